package cli_test

import (
	"archive/zip"
	"encoding/base64"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// planted are secrets of a configuration, by where they stand.
var planted = struct{ env, args, url, headers map[string]string }{
	env: map[string]string{
		"OPENAI":          "sk-proj-AbCdEf0123456789abcdefghijklmnop",
		"ANTHROPIC":       "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789",
		"GH":              "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
		"AWS_ID":          "AKIAIOSFODNN7EXAMPLE",
		"AWS_OTHER":       "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		"SLACK_BOT":       "xoxb-123456789012-123456789012-abcdefghijklmnopqrstuvwx",
		"GOOGLE":          "AIzaSyA1234567890abcdefghijklmnopqrstuv",
		"GITLAB":          "glpat-AbCdEfGhIjKlMnOpQrSt",
		"NPM":             "npm_abcdefghijklmnopqrstuvwxyz0123456789",
		"STRIPE":          "sk_live_abcdefghijklmnopqrstuvwx",
		"HUGGING":         "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
		"ASSERTION":       "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
		"PEM":             "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----",
		"AGE":             "AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ",
		"TELEGRAM_BOT":    "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
		"DISCORD_BOT":     "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
		"API_TOKEN":       "plain-token-of-the-shop",
		"awssecret":       "an odd name for it",
		"DB_PASSWORD":     `Tr0ub4dor&3"xyz`,
		"DATABASE_URL":    "postgres://bob:hunter2pass@db/x",
		"SOMETHING":       "Zk3pQ9vLw2XyB7nM",
		"HEX":             "9f86d081884c7d659a2feaa0c55ad015",
		"WEBHOOK_ADDRESS": "https://hooks.example.com/services/T00000000/B00000000/Xa9Xb8Xc7Xd6Xe5Xf4Xg3Xh2",
	},
	args: map[string]string{
		"--token":                         "after-a-flag-11",
		"--api-key=":                      "behind-an-equals-sign-22",
		"--clientSecret":                  "of-a-camel-33",
		"-e SHOP_TOKEN=":                  "as-docker-gets-it-44",
		"--header Authorization: Bearer ": "of-a-header-55",
		"-u me:":                          "of-a-user-66",
		"https://me:":                     "of-an-address-77",
		"https://h/?sig=":                 "of-a-parameter-88",
		"--hidden":                        "Qm9vR2xhc3M5NzUzMTIz",
		"--password":                      "pass word 99",
	},
	url: map[string]string{"?key=": "url-key-444", "&access_token=": "url-token-555", "me:": "url-password-666", "/": "Seg9mentOfAnAddress77"},
	headers: map[string]string{
		"Authorization": "Bearer bearer-of-a-header-1", "X-Api-Key": "key-of-a-header-2", "Cookie": "session=cookie-of-a-header-3; theme=dark",
		"Proxy-Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("me:basic-of-a-header-4")),
	},
}

// secretParts returns what no output may hold.
func secretParts() map[string]string {
	parts := map[string]string{"variable of replan itself": "environment-of-replan-9"}
	for _, group := range []map[string]string{planted.env, planted.args, planted.url, planted.headers} {
		for where, value := range group {
			parts[where] = value
		}
	}
	parts["PEM"], parts["DATABASE_URL"], parts["WEBHOOK_ADDRESS"] = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "hunter2pass", "Xa9Xb8Xc7Xd6Xe5Xf4Xg3Xh2"
	parts["DB_PASSWORD"] = "Tr0ub4dor&3"
	parts["Authorization"], parts["Cookie"] = "bearer-of-a-header-1", "cookie-of-a-header-3"
	_, parts["Proxy-Authorization"], _ = strings.Cut(planted.headers["Proxy-Authorization"], " ")
	return parts
}

// secretServers returns a configuration with the planted secrets. Its program says
// them all, and ends.
func secretServers(t *testing.T) []byte {
	t.Helper()
	args := []string{"-c", `env; env >&2; for a in "$@"; do echo "cannot log in with $a" >&2; done; echo "wrong $API_TOKEN" >&2; exit 1`, "sh"}
	for flag, value := range planted.args {
		before, last, two := strings.Cut(flag, " ")
		switch {
		case two:
			args = append(args, before, last+value)
		case strings.HasSuffix(flag, "=") || strings.HasSuffix(flag, ":"):
			if strings.HasPrefix(flag, "https://me:") {
				value += "@h/x"
			}
			args = append(args, flag+value)
		default:
			args = append(args, flag, value)
		}
	}
	u := planted.url
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"program": map[string]any{"command": "sh", "args": args, "env": planted.env},
		"remote": map[string]any{
			"url":     "http://me:" + u["me:"] + "@127.0.0.1:1/" + u["/"] + "/mcp?key=" + u["?key="] + "&access_token=" + u["&access_token="],
			"headers": planted.headers,
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// No output of any command holds a secret of the configuration or the environment.
func TestNoOutputHoldsSecretsOfTheConfiguration(t *testing.T) {
	parts := secretParts()
	if len(parts) < 30 {
		t.Fatalf("there are %d secrets, want 30 or more", len(parts))
	}
	home, folder := t.TempDir(), t.TempDir()
	servers := string(secretServers(t))
	write(t, filepath.Join(home, "mcp.json"), servers)
	write(t, filepath.Join(folder, "other.json"), servers)
	write(t, filepath.Join(folder, "plan.json"), `{"title":"t","goal":"g","steps":[{"title":"r","tool":"fs.list"},{"title":"p","tool":"proc.run","args":{"shell":"exit 1"}}]}`)
	holds := func(what, text string) {
		t.Helper()
		for where, secret := range parts {
			quoted, _ := json.Marshal(secret)
			if strings.Contains(text, secret) || strings.Contains(text, strings.Trim(string(quoted), `"`)) {
				at := strings.Index(text, secret)
				t.Errorf("%s holds the secret of %s: …%s…", what, where, text[max(at-60, 0):min(max(at, 0)+len(secret)+20, len(text))])
			}
		}
	}
	run := func(args ...string) string {
		cmd := exec.Command("replan", args...)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "REPLAN_HOME="+home, "NO_COLOR=1", "SHOP_SECRET=environment-of-replan-9", "OLLAMA_HOST=127.0.0.1:1")
		out, _ := cmd.CombinedOutput() // many fail
		return string(out)
	}
	replan := func(args ...string) {
		t.Helper()
		out := run(args...)
		if out == "" {
			t.Errorf("%v printed nothing", args)
		}
		holds(strings.Join(args[:min(len(args), 4)], " "), out)
	}
	replan("mcp", "list")
	replan("mcp", "list", "--no-start")
	replan("mcp", "list", "--output", "json")
	replan("mcp", "test", "program")
	replan("mcp", "test", "remote", "--output", "json")
	replan("mcp", "import", "other.json")
	replan("mcp", "import", "other.json", "--output", "json")
	replan("mcp", "add", "more", "--env", "TOKEN:"+planted.env["API_TOKEN"], "--", "x", "--token", "after-a-flag-11")
	replan("mcp", "add", "more", "https://h/mcp?key=url-key-444", "--token", "after-a-flag-11")
	replan("mcp", "add", "more", "https://h/mcp?key=url-key-444", "--api-key=behind-an-equals-sign-22")
	replan("mcp", "add", "more", "ftp://me:url-password-666@h/mcp?key=url-key-444")
	replan("mcp", "add", "more", "--header", "Authorization Bearer bearer-of-a-header-1", "https://h/mcp")
	replan("doctor")
	replan("doctor", "--output", "json")
	replan("plan", "run", "plan.json", "--approve", "all", "--plain")
	replan("plan", "run", "plan.json", "--approve", "all", "--output", "json")
	// What a run was told, its own output shows; what is passed on must not hold it.
	write(t, filepath.Join(folder, "told.json"), `{"title":"t","goal":"use an odd name for it","steps":[{"title":"p","tool":"proc.run","args":{"shell":"echo key-of-a-header-2 Zk3pQ9vLw2XyB7nM"}}]}`)
	run("plan", "run", "told.json", "--approve", "all")
	replan("plan", "import", "told.json")
	replan("plan", "export", "t-")
	replan("bug")
	read := 0
	for _, part := range []string{"logs", "exports"} {
		err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.Contains(path, string(filepath.Separator)+part+string(filepath.Separator)) {
				return err
			}
			read++
			text, err := os.ReadFile(path)
			if packed, zipErr := zip.OpenReader(path); zipErr == nil {
				defer packed.Close() //nolint:errcheck // it was only read
				for _, file := range packed.File {
					r, openErr := file.Open()
					if openErr != nil {
						return openErr
					}
					more, readErr := io.ReadAll(r)
					if readErr != nil {
						return readErr
					}
					holds(filepath.Base(path)+" "+file.Name, string(more))
				}
			}
			holds(filepath.Base(path), string(text))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if read < 3 { // the log, that of the program, and the report
		t.Errorf("%d files of logs and exports were read", read)
	}
}
