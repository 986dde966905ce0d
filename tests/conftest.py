from harness_core.registry import register

register("harness_core.testing.plugin")
register("support.plugin")
