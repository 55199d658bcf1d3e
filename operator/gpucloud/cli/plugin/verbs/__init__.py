"""The verbs: what each gathers, and in which order it decides and shows. They know neither the words typed nor HTTP."""
