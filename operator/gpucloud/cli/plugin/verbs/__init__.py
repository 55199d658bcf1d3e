"""The verbs: what each gathers, and in which order it decides and shows. They know typer's options and nothing of HTTP."""
