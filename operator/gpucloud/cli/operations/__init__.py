"""What the commands do beside running the operator: check the settings, look for orphans, prepare an uninstall."""
