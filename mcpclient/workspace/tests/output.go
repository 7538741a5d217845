package tests

import "strings"

const maxTestText = 64 << 10 // bytes of one test's output, up to half as much again

// clippedText is a text that drops its middle if it is long.
type clippedText struct {
	head, tail []byte
	cut        bool
}

func (c *clippedText) add(s string) {
	room := min(max(0, maxTestText/2-len(c.head)), len(s))
	c.head = append(c.head, s[:room]...)
	c.tail = append(c.tail, s[room:]...)
	if over := len(c.tail) - maxTestText/2; over > maxTestText/2 {
		c.tail = append(c.tail[:0], c.tail[over:]...)
		c.cut = true
	}
}

// open reports whether the last line is incomplete.
func (c *clippedText) open() bool {
	last := c.tail
	if len(last) == 0 {
		last = c.head
	}
	return len(last) > 0 && last[len(last)-1] != '\n'
}

func (c *clippedText) lines() []string {
	head, tail := string(c.head), string(c.tail)
	if c.cut { // perhaps within a character
		head, tail = strings.ToValidUTF8(head, "")+"\n[cut]\n", strings.ToValidUTF8(tail, "")
	}
	text := strings.TrimSuffix(head+tail, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
