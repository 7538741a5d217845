package connection

import "testing"

func TestRefusalCodes(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]bool{
		-32600: true, -32601: true, -32602: true, -32020: true, -32021: true, -32022: true, -32042: true,
		-32603: false, -32700: false, -32000: false, 0: false, 1: false,
	} {
		if got := (&AnsweredError{code: code}).Refuses(); got != want {
			t.Errorf("code %d: got %v, want %v", code, got, want)
		}
	}
}
