package redact_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"replan/internal/redact"
)

func TestSecretsAreRedacted(t *testing.T) {
	for _, c := range []struct{ text, secret string }{
		{"API_KEY=sk-FILEabcdefghijklmnop123\nX=1", "sk-FILE"},
		{`{"text":"A=1\nsk-FILEabcdefghijklmnop123"}`, "sk-FILE"},
		{"GH=ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_"},
		{"AWS=AKIAABCDEFGHIJKLMNOP", "AKIA"},
		{"curl -H 'Authorization: Bearer abcdef123'", "abcdef123"},
		{"https://user:p4ssw0rd@host/x", "p4ssw0rd"},
		{`{"text":"HOST=a\nDB_PASSWORD=hunter22\nB=c"}`, "hunter22"},
		{"export JWT_SECRET=\"c0rrecthorse\"", "c0rrecthorse"},
		{"-----BEGIN RSA PRIVATE KEY-----\nMIIabcdefghijklmnop\n-----END RSA PRIVATE KEY-----", "MIIabc"},
		{`"-----BEGIN PRIVATE KEY-----\nMIIabcdefghijklmnop\n-----END PRIVATE KEY-----\n"`, "MIIabc"},
	} {
		for name, got := range map[string]string{"prompt": redact.Prompt(c.text), "log": redact.Text(c.text)} {
			if strings.Contains(got, c.secret) {
				t.Errorf("%s of %q: got %q", name, c.text, got)
			}
		}
		if redact.Marks(redact.Prompt(c.text)) == 0 {
			t.Errorf("%q: the prompt has no mark of a redaction", c.text)
		}
		if once := redact.Prompt(c.text); redact.Prompt(once) != once {
			t.Errorf("%q: redacting %q again changes it", c.text, once)
		}
	}
}

func TestSourceTextIsNotRedacted(t *testing.T) {
	for _, text := range []string{
		`token := os.Getenv("API_TOKEN")`, "password: string", `req.Header.Set("Authorization", "Bearer "+token)`, "API_KEY=$KEY", "TOKEN=$(cat token)",
		`const key = "-----BEGIN RSA PRIVATE KEY-----"`, "http://localhost:8080/path", `fmt.Sprintf("postgres://%s:%s@%s/db", user, pass, host)`,
		"postgres://$USER:$PASS@host/db", "Authorization: Bearer <token>", "the task-force-of-the-summer", "if apiKey == nil {", "MAX_TOKENS = 4096", "sk-learn",
		`"api_key": "a b c"`, "the secret is to keep it simple", "func (s *Secret) Key() string { return s.key }",
	} {
		if got := redact.Prompt(text); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
}

func TestWriterRedactsSecrets(t *testing.T) {
	var out bytes.Buffer
	text := "level=INFO msg=start args=\"--key sk-HDRabcdefghijklmnop1234 http://user:hunter22@host\"\n"
	n, err := new(redact.Secrets).Writer(&out).Write([]byte(text))
	if err != nil || n != len(text) {
		t.Errorf("got %d bytes written: %v", n, err)
	}
	if got := out.String(); strings.Contains(got, "sk-HDR") || strings.Contains(got, "hunter22") || !strings.HasSuffix(got, "\n") {
		t.Errorf("got log %q", got)
	}
}

func TestSecretThatIsANameIsRedacted(t *testing.T) {
	got := redact.Value(map[string]any{
		"sk-abcdefghijklmnop1234": "Anna", "sk-abcdefghijklmnop5678": "Ben", "keys": map[string]any{"ghp_abcdefghijklmnopqrst12": true},
	}, redact.Text)
	want := map[string]any{
		"[API key left out]": "Anna", "[API key left out]+": "Ben", "keys": map[string]any{"[API key left out]": true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestValueThatItsNameCallsASecretIsRedacted(t *testing.T) {
	got := redact.Value(map[string]any{
		"password": "correct horse", "api_key": "${key}", "path": "docs/a.md", "list": []any{map[string]any{"token": "abcdefgh"}}, "note": "sk-abcdefghijklmnop1234 is it",
	}, redact.Text)
	want := map[string]any{
		"password": "[secret left out]", "api_key": "${key}", "path": "docs/a.md", "list": []any{map[string]any{"token": "[secret left out]"}}, "note": "[API key left out] is it",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFlagsAndParametersOfSecretsAreRedacted(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"x --token abcd1234 y", "x --token [secret left out] y"},
		{"x --api-key=abcd1234 y", "x --api-key=[secret left out] y"},
		{`["x","--clientSecret","abcd1234"]`, `["x","--clientSecret","[secret left out]"]`},
		{"https://h/mcp?a=1&key=abcd1234&b=2", "https://h/mcp?a=1&key=[secret left out]&b=2"},
		{"--token-file /run/secret", "--token-file /run/secret"},
		{"--token ${TOKEN}", "--token ${TOKEN}"},
		{"--max-tokens 100000", "--max-tokens 100000"},
		{"https://h/a?page=2&sort=name", "https://h/a?page=2&sort=name"},
		{"commit 2f1c9a7be0d1c2b3a4f5e6d7c8b9a0f1e2d3c4b5", "commit 2f1c9a7be0d1c2b3a4f5e6d7c8b9a0f1e2d3c4b5"},
	} {
		if got := redact.Text(c.text); got != c.want || redact.Text(got) != c.want {
			t.Errorf("%q: got %q, then %q, want %q", c.text, got, redact.Text(got), c.want)
		}
	}
}

func TestKnownSecretsAreRedactedInEveryForm(t *testing.T) {
	var known redact.Secrets
	known.AddCommand([]string{"run", "--token", `a "b" c&d`, "-e", "SHOP_KEY=tango-5", "--port", "8080", "--max-tokens", "131072"})
	known.AddHeader("Authorization", "Bearer of-a-header")
	known.AddAddress("https://me:secret-7@h/x?key=par%20am-8&page=second-page")
	for _, text := range []string{`a "b" c&d`, `{"x":"a \"b\" c&d"}`, "a+%22b%22+c%26d", "tango-5", "of-a-header", "secret-7", "par am-8", "par%20am-8"} {
		if got := known.Known(text); !strings.Contains(got, "[secret left out]") {
			t.Errorf("%q: got %q", text, got)
		}
	}
	for _, text := range []string{"8080", "131072", "second-page", "Bearer", "run"} {
		if got := known.Known(text); got != text {
			t.Errorf("%q: got %q", text, got)
		}
	}
	if got := strings.Join(known.Command([]string{"x", "--token", "${TOKEN}", "--password", "hunter22"}), " "); got != "x --token ${TOKEN} --password [secret left out]" {
		t.Errorf("got %q", got)
	}
}
