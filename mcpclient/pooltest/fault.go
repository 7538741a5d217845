package pooltest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"replan/mcpclient/config"
)

// Message is a message in the wire format.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name string `json:"name"`
	} `json:"params"`
}

// Answers of a server in the wire format.
const (
	OlderGreeting = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}}`                                                                                                // to initialize
	NewerGreeting = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"f","version":"1"}}}` // to server/discover
	ToolList      = `{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"fail","inputSchema":{"type":"object"}}],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`                                // of the tools echo and fail
	EchoResult    = `{"content":[{"type":"text","text":"echo"}],"resultType":"complete"}`                                                                                                                                 // of a call of echo
)

// faulty serves MCP on standard input and output, word by word, with a fault. It
// appends each method that it receives to the file TRACE.
func faulty(fault string) { //nolint:gocyclo,funlen // one case for each fault
	reply := func(m Message, result string) {
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
	refuse := func(m Message, code int, text string) {
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`+"\n", m.ID, code, text)
	}
	if strings.HasPrefix(fault, "slow") {
		time.Sleep(1200 * time.Millisecond) // longer than the probe waits alone
	}
	if fault == "sleeps" {
		time.Sleep(time.Second)
	}
	listed, refused := false, false
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var m Message
		_ = json.Unmarshal(lines.Bytes(), &m)
		trace(m.Method)
		switch {
		case fault == "says nothing":
			fmt.Fprintln(os.Stderr, "got", m.Method)
		case m.Method == "server/discover" && fault == "ends at the probe":
			fmt.Fprintln(os.Stderr, "Error: expect initialized request")
			os.Exit(1)
		case m.Method == "server/discover" && fault == "ignores the probe":
		case m.Method == "server/discover" && fault == "empty answers":
			reply(m, "{}")
		case m.Method == "server/discover" && fault == "refuses the version once" && !refused:
			refused = true
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2026-07-28"}}}`+"\n", m.ID)
		case m.Method == "server/discover" && fault == "refuses the version once":
			reply(m, NewerGreeting)
		case fault == "ids are texts" && len(m.ID) > 0:
			m.ID = json.RawMessage(strconv.Quote(string(m.ID)))
			reply(m, map[string]string{"initialize": OlderGreeting, "tools/list": ToolList, "tools/call": EchoResult}[m.Method])
		case m.Method == "tools/call" && fault == "answers over several lines":
			fmt.Printf("{\n  \"jsonrpc\": \"2.0\",\n  \"id\": %s,\n  \"result\": %s\n}\n", m.ID, EchoResult)
		case m.Method == "tools/call" && fault == "writes noise":
			fmt.Print("Starting up…\n\n{\"level\":\"info\"}\n[1,2]\n\"x\"\n")
			reply(m, EchoResult)
		case m.Method == "server/discover" && (fault == "slow and newer" || fault == "slow and both" || fault == "wants a capability" || fault == "asks for ever" || fault == "wants sampling"):
			reply(m, NewerGreeting)
		case m.Method == "server/discover":
			refuse(m, -32601, "unknown method")
		case m.Method == "initialize" && fault == "slow and newer":
			refuse(m, -32022, "unsupported protocol version")
		case m.Method == "initialize":
			reply(m, OlderGreeting)
		case m.Method == "tools/list" && fault == "lists once" && listed:
			refuse(m, -32603, "no list")
		case m.Method == "tools/list":
			reply(m, ToolList)
			listed = true
			if fault == "changes at each list" {
				fmt.Println(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			}
		case m.Method == "tools/call" && fault == "ends in mid-line":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"resu`, m.ID)
			os.Exit(9)
		case m.Method == "tools/call" && fault == "wants a capability":
			refuse(m, -32021, "missing required client capability: elicitation")
		case m.Method == "tools/call" && fault == "wants sampling":
			reply(m, `{"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}},"requestState":"x"}`)
		case m.Method == "tools/call" && fault == "asks for ever":
			reply(m, `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"name?","requestedSchema":{"type":"object"}}}},"requestState":"x"}`)
		case m.Method == "tools/call" && fault == "answers twice":
			reply(m, EchoResult)
			reply(m, EchoResult)
		case m.Method == "tools/call" && fault == "lists once":
			reply(m, EchoResult)
			fmt.Println(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		case m.Method == "tools/call" && fault == "pings": // with the number of the call itself
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`+"\n", m.ID)
		case m.Method == "" && fault == "pings":
			reply(m, EchoResult)
		case m.Method == "tools/call" && fault == "ignores cancel":
		case m.Method == "tools/call" && m.Params.Name == "fail":
			os.Exit(9)
		case m.Method == "tools/call":
			reply(m, EchoResult)
		}
	}
}

func trace(method string) {
	path := os.Getenv("TRACE")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //nolint:gosec // the test names it
	if err != nil {
		os.Exit(5)
	}
	_, _ = fmt.Fprintln(f, method)
	_ = f.Close()
}

// Fault returns a server with a fault, and a function that returns the methods that
// its processes have received.
func Fault(t *testing.T, what string) (config.Server, func() string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace")
	return Child("k", "fault", map[string]string{"FAULT": what, "TRACE": file}), func() string {
		text, _ := os.ReadFile(file) //nolint:gosec // of the test
		return strings.Join(strings.Fields(string(text)), " ")
	}
}
