"""What harness-rigger registers."""
