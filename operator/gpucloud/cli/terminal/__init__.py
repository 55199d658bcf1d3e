"""What both programs show on a terminal: lines and tables, commands to paste, JSON and YAML; what others wrote is made safe."""
