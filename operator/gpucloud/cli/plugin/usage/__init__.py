"""What a person types: the verbs and their options as data, the parser, the help, the completion."""
