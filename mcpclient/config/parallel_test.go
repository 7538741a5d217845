package config_test

import (
	"testing"

	"replan/mcpclient/config"
)

// The key is read, written and kept.
func TestServerInParallelIsWrittenAsRead(t *testing.T) {
	text, _, err := config.Set(nil, config.Server{Name: "it", Command: "x", Parallel: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []config.Source{config.SourceUser, config.SourceFlag, config.SourceProject} {
		servers, err := config.Read(configFile(t, string(text)), source, "/work")
		if err != nil || len(servers) != 1 || !servers[0].Parallel || len(servers[0].Notes) > 0 {
			t.Errorf("%s: got %+v, %v from %s", source, servers, err, text)
		}
	}
}
