"""medveil in the browser, on one's own machine. It adds no anonymization of its own: it calls the same use cases as
the command line, each in a process of its own, and the process that serves pages loads nothing that computes.
"""
