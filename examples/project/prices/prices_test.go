package prices

import (
	"testing"
	"time"
)

func TestTotal(t *testing.T) {
	time.Sleep(time.Second) // simulates fetching a price list
	if total := Total(250, 3); total != 750 {
		t.Errorf("got total %d, want 750", total)
	}
}
