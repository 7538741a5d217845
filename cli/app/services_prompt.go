package app

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"replan/cli/exit"
	"replan/cli/slash"
	"replan/mcpclient"
	"replan/planning/prompt"
)

// CallPrompt returns the message for the command of a prompt: it mentions the prompt,
// the text of which goes along as text from outside.
func (s *Services) CallPrompt(ctx context.Context, command, rest string) (message string, err error) {
	server, name, _ := strings.Cut(strings.TrimPrefix(command, "/"), ":")
	prompts, err := s.tools.Prompts().Of(ctx, server)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(prompts, func(p mcpclient.Prompt) bool { return p.Name == name })
	if i < 0 {
		return "", exit.Usage("the MCP server %q has no prompt %q", server, name)
	}
	p := prompts[i]
	words, err := slash.Split(rest)
	if err != nil {
		return "", exit.Usage("%w", err)
	}
	if rest == "" {
		words = nil
	}
	if n := len(p.Arguments); n > 0 && len(words) > n { // the last takes the rest
		words = append(words[:n-1:n-1], strings.Join(words[n-1:], " "))
	}
	if len(words) > len(p.Arguments) {
		return "", exit.Usage("%s takes no arguments", command)
	}
	values := url.Values{}
	for j, a := range p.Arguments {
		switch {
		case j < len(words):
			values.Set(a.Name, words[j])
		case a.Required:
			return "", exit.Usage("%s needs %s: %s %s", command, a.Name, command, promptUsage(p))
		}
	}
	mention := p.Server + promptMark + p.Name
	if len(values) > 0 {
		mention += "?" + values.Encode()
	}
	return "Do what this prompt asks for: " + prompt.NameOf(mention), nil
}
