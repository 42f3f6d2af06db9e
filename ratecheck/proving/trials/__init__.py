"""What is proved at numbers, tried on instances with these numbers by the engines of `verify`."""
