// Package machine says what the machine has that the program runs on.
package machine
