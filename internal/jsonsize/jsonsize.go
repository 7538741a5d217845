package jsonsize

import "fmt"

// Most is how many values a text from outside may have, with the names of fields.
const Most = 500_000

// Check fails if a JSON text has more than Most values. It reads the text once.
func Check(text []byte) error {
	var c Counter
	c.Add(text)
	return c.Err()
}

// Counter counts the values and names of fields in a JSON text that comes in parts. The
// zero value is ready for use.
type Counter struct {
	values          int
	inText, escaped bool
}

// Add counts a part of the text: what opens or separates values outside of texts.
func (c *Counter) Add(part []byte) {
	for _, b := range part {
		switch {
		case c.escaped:
			c.escaped = false
		case b == '"':
			c.inText = !c.inText
		case c.inText:
			c.escaped = b == '\\'
		case b == ',' || b == ':' || b == '[' || b == '{':
			c.values++
		}
	}
}

// Err returns an error if the text has more than Most values so far.
func (c *Counter) Err() error {
	if c.values <= Most {
		return nil
	}
	return fmt.Errorf("it has more than %d values", Most)
}
