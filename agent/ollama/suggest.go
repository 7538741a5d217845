package ollama

import (
	"fmt"
	"net"
	"net/url"
)

// suggestions are models that plan and call tools, the best first: their weights, and the
// memory for a token of context, in bytes.
var suggestions = []struct {
	name            string
	weights, aToken int64
}{
	{suggestion, 5_230_000_000, 147_456},
	{"qwen3:4b", 2_500_000_000, 147_456},
	{"qwen3:1.7b", 1_360_000_000, 114_688},
}

// Suggest returns the best of a few models that plans and calls tools, and fits a machine
// with so much memory in bytes. 0 is an ordinary machine.
func Suggest(memory int64) string {
	const system = 2_000_000_000 // bytes that other programs take
	for _, s := range suggestions {
		if memory == 0 || memoryFor(s.weights, s.aToken, defaultWindow)+system <= memory {
			return s.name
		}
	}
	return suggestions[len(suggestions)-1].name
}

// memoryFor estimates the memory for a model with a context window.
func memoryFor(weights, perToken int64, window int) int64 {
	const reserve = 10 // percent, for what computing takes
	return (weights + int64(window)*perToken) * (100 + reserve) / 100
}

// suggested returns the model to pull if none is named. The memory of another machine is not
// known.
func (c *Client) suggested() string {
	if !isLocal(c.base) {
		return suggestion
	}
	return Suggest(c.memory)
}

// start says how to get a server that answers.
func (c *Client) start() string {
	if c.install == "" || !isLocal(c.base) {
		return "start it with `ollama serve`"
	}
	return fmt.Sprintf("install it with `%s` and start `ollama serve`", c.install)
}

// isLocal reports whether a server is on this machine.
func isLocal(base *url.URL) bool {
	ip := net.ParseIP(base.Hostname())
	return base.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
