package mcp

import (
	"strings"
	"testing"
	"time"

	"replan/mcpclient"
)

func TestWireHidesSecretsAndTellsProtocolOfBothEras(t *testing.T) {
	began := time.Now()
	for name, c := range map[string]struct {
		sent, received, protocol string
	}{
		"with a session": {
			`{"id":1,"method":"initialize","params":{"token":"ghp_0123456789abcdefghij0123"}}`,
			`{"id":1,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"it","version":"3"}}}`, "2025-11-25",
		},
		"stateless": {
			`{"id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","token":"ghp_0123456789abcdefghij0123"}}}`,
			`{"id":1,"result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"it","version":"3"}}}}`, "2026-07-28",
		},
	} {
		t.Run(name, func(t *testing.T) {
			result := &testOutput{began: began, asked: map[string]time.Time{}}
			line := result.take(mcpclient.Message{Sent: true, Time: began, Text: []byte(c.sent)})
			if strings.Contains(line.Text, "ghp_") || line.Bytes != len(c.sent) {
				t.Errorf("got %+v", line)
			}
			result.take(mcpclient.Message{Time: began.Add(2 * time.Second), Text: []byte(c.received)})
			if result.Protocol != c.protocol || result.Name != "it" || result.Version != "3" || result.HandshakeMS != 2000 {
				t.Errorf("got %+v", result)
			}
		})
	}
	result := &testOutput{began: began, asked: map[string]time.Time{}}
	if got := result.take(mcpclient.Message{Time: began, Text: []byte("HTTP 401 Unauthorized\xff")}); got.Text != "HTTP 401 Unauthorized\ufffd" {
		t.Errorf("got %q", got.Text)
	}
}
