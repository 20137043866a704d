"""Sources that grow while somebody looks at them: what is new is read, what was read stays."""
