"""From the packets of a capture to rows: the scalar road, which reads everything, and the
columnar one, for connections in which nothing is out of the ordinary."""
