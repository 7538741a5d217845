package reply

import (
	"bytes"
	"unicode"
)

// preface is the text of a reply before a value. It finds the same start as
// StripThinking while the reply still grows, and reads each byte only a few times
// however often it is called.
type preface struct {
	text   []byte
	start  int    // the start of the reply, after ended thoughts
	sought [2]int // up to where no thought of a kind ends, by thinkingTags
	ended  bool   // a thought has ended
	prose  bool   // it began with prose, so the next </think> ends a thought
	fence  int    // up to where the opening of a code fence was read
	words  bool   // more than the opening of a code fence was read
}

func (p *preface) add(c byte) { p.text = append(p.text, c) }

// admits reports whether the next bracket may open a value.
func (p *preface) admits(bracket byte) bool {
	thinking := p.strip()
	switch {
	case thinking && !p.ended:
		return false
	case bracket == '{' || thinking:
		return true
	default:
		return p.startsReply() // else words in brackets, more likely than a plan
	}
}

// strip moves the start behind ended thoughts, and reports whether one is still
// open there.
func (p *preface) strip() (thinking bool) {
	for {
		rest := bytes.TrimLeftFunc(p.text[p.start:], unicode.IsSpace)
		p.start = len(p.text) - len(rest)
		if p.prose && p.passEnd(0) {
			// Whatever ended by the other tag was part of this thought.
			p.prose = false
			continue
		}
		switch {
		case len(rest) == 0:
			return false
		case bytes.HasPrefix(rest, []byte(thinkingTags[0][0])):
			thinking = !p.passEnd(0)
		case bytes.HasPrefix(rest, []byte(thinkingTags[1][0])):
			thinking = !p.passEnd(1)
		case bytes.HasPrefix(rest, []byte("{")), bytes.HasPrefix(rest, []byte("[")), bytes.HasPrefix(rest, []byte("```")):
			return false
		case !p.prose:
			p.prose = true
			continue
		case !p.passEnd(1):
			return false
		}
		if thinking {
			return true
		}
	}
}

// reply returns the text after ended thoughts.
func (p *preface) reply() string { return string(p.text[p.start:]) }

// passEnd moves the start behind the next end of a thought of a kind, and reports
// whether there is one.
func (p *preface) passEnd(kind int) bool {
	tag := thinkingTags[kind][1]
	from := max(p.start, p.sought[kind])
	at := bytes.Index(p.text[from:], []byte(tag))
	if at < 0 {
		p.sought[kind] = max(from, len(p.text)-len(tag)+1) // the rest of it may follow
		return false
	}
	p.start, p.ended, p.words = from+at+len(tag), true, false
	return true
}

// startsReply is the function of this name for the text from the start on.
func (p *preface) startsReply() bool {
	rest := p.text[p.start:]
	switch {
	case len(rest) == 0:
		return true
	case p.words || !bytes.HasPrefix(rest, []byte("```")):
		return false
	}
	p.fence = max(p.fence, p.start+3)
	at := bytes.IndexAny(p.text[p.fence:], "`\n ")
	if at < 0 {
		p.fence = len(p.text)
		return true
	}
	p.fence += at
	p.words = len(bytes.TrimSpace(p.text[p.fence:])) > 0
	return !p.words
}
