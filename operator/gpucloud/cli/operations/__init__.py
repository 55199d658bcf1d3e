"""Operations of the commands beside running the operator: check the settings, report orphans, prepare an uninstall."""
