"""What a method is: its four functions, its oracles, its cost, and the methods derived from another one."""
