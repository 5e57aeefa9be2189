"""Generation: texts about a topic, in which every piece says where it came from."""
