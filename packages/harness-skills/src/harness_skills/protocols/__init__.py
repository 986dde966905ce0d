"""The protocols of the EnvHarness paper: what skills from reshaped envs are worth."""
