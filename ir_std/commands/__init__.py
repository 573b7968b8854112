"""The commands of the command line, a module each.

A command module has ``configure(parser)``, which declares its arguments, and ``run(args)``,
which calls the library and prints results to standard output.  Its docstring is its help.
"""
