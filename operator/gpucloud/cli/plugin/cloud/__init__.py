"""Who answers the verbs' questions about the cloud."""
