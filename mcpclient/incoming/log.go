package incoming

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// How many messages of a server are logged within how long. The others are counted.
const (
	MaxMessages   = 200
	MessagePeriod = 10 * time.Second

	maxLine = 4000 // bytes of a logged message
)

// Log logs the messages that a server sends with notifications/message. It is safe
// for concurrent use.
type Log struct {
	Write func(line string)

	mu      sync.Mutex
	begun   time.Time // of the period
	logged  int       // in the period
	dropped int       // in the period
	closed  bool
}

// Close ends the log: nothing is written after it has returned.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

// Take logs a message, unless there were too many.
func (l *Log) Take(n mcp.JSONRPCNotification) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if now := time.Now(); now.Sub(l.begun) > MessagePeriod {
		if l.dropped > 0 {
			l.Write(fmt.Sprintf("[replan] left out %d messages within %s", l.dropped, MessagePeriod))
		}
		l.begun, l.logged, l.dropped = now, 0, 0
	}
	if l.logged >= MaxMessages {
		l.dropped++
		return
	}
	l.logged++
	l.Write(line(n.Params.AdditionalFields))
}

// line returns the beginning of a message on one line.
func line(fields map[string]any) string {
	level, _ := fields["level"].(string)
	from, _ := fields["logger"].(string)
	text, isText := fields["data"].(string)
	if !isText {
		data, _ := json.Marshal(fields["data"]) // it was JSON before
		text = string(data)
	}
	words := strings.Join(strings.Fields("["+strings.TrimSpace(level+" "+from)+"] "+text), " ")
	if len(words) > maxLine {
		words = strings.ToValidUTF8(words[:maxLine], "") + "…"
	}
	return words
}
