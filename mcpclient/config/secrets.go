package config

import "replan/internal/redact"

// AddSecrets takes note of the secrets in the configuration of a server. It looks into its
// environment, headers, arguments and address, as they are written and as they are used.
func (s Server) AddSecrets(to *redact.Secrets) {
	for _, how := range []struct {
		env, headers map[string]string
		command      []string
		url          string
	}{{s.Env, s.Headers, append([]string{s.Command}, s.Args...), s.URL}, {s.AsWritten().Env, s.AsWritten().Headers, s.AsWritten().Command, s.AsWritten().URL}} {
		for name, value := range how.env {
			to.AddVariable(name, value)
		}
		for name, value := range how.headers {
			to.AddHeader(name, value)
		}
		to.AddCommand(how.command)
		to.AddAddress(how.url)
	}
	if s.OAuth != nil {
		to.Add(s.OAuth.ClientSecret)
	}
}
