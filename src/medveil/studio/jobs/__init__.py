"""What is computed in processes of their own: a queue, the processes, and a desk for small questions."""
