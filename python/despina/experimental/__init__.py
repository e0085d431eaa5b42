"""Extensions of the language."""
