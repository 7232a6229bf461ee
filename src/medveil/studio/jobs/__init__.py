"""What is computed in processes of their own: a queue, the processes, and one that answers small questions."""
