"""EnvRigger: reshapes an env against the weakness of a policy."""
