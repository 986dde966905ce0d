from hypothesis import settings

settings.register_profile("laws", deadline=None, derandomize=True, max_examples=100)
settings.load_profile("laws")
