#!/bin/sh
# A day of pushes in a few seconds: widgetpush dev -- sh docs/scripted-day.sh
#
# Twenty widgets are sent a push every quarter of an hour from nine to three, which is more than their budgets pay for, and three
# deliveries are followed by Live Activities. The clock is moved between, and at the end everything has arrived, merged or ended by itself.
set -eu

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
jwt=$(widgetpush token)
widgetpush clock freeze >"$folder/clock"

# One line a token for `import`, which registers all of them with one call.
for number in $(seq 20); do openssl rand -hex 32; done >"$folder/widgets"
for number in 1 2 3; do openssl rand -hex 80; done >"$folder/activities"
while read -r token; do
  echo "{\"token\":\"$token\",\"type\":\"widgets\",\"bundleID\":\"com.example.app\",\"environment\":\"development\"}"
done <"$folder/widgets" >"$folder/tokens.ndjson"
while read -r token; do
  printf '{"token":"%s","type":"liveactivity","bundleID":"com.example.app","environment":"development",' "$token"
  echo "\"activity\":{\"id\":\"$(echo "$token" | cut -c 1-8)\",\"attributesType\":\"DeliveryAttributes\"}}"
done <"$folder/activities" >>"$folder/tokens.ndjson"
widgetpush import "$folder/tokens.ndjson"

# A push for curl's configuration: token, push type, payload as it stands between quotes there.
push() {
  printf 'next\nurl = "%s/3/device/%s"\nhttp2\ncacert = "%s"\n' "$WIDGETPUSH_PROVIDER" "$1" "$WIDGETPUSH_CA_FILE"
  printf 'header = "authorization: bearer %s"\nheader = "apns-topic: com.example.app.push-type.%s"\n' "$jwt" "$2"
  printf 'header = "apns-push-type: %s"\nheader = "apns-priority: 5"\ndata = "%s"\n' "$2" "$3"
  printf 'output = "/dev/null"\nwrite-out = "%%{http_code}\\n"\nno-progress-meter\n'
}
reload='{\"aps\":{\"content-changed\":true}}'

# Nine o'clock to three, a quarter of an hour a step.
for quarter in $(seq 0 23); do
  while read -r token; do push "$token" widgets "$reload"; done <"$folder/widgets" >"$folder/pushes"
  number=0
  now=$(date +%s)
  while read -r token; do
    number=$((number + 1))
    # Six updates each, every half hour; two of the deliveries end at noon, and nobody ends the third.
    if [ $((quarter % 2)) -eq 0 ] && [ "$quarter" -lt 12 ]; then
      event='\"event\":\"update\",\"content-state\":{\"stops\":'$((12 - quarter))'}'
    elif [ "$quarter" -eq 12 ] && [ "$number" -lt 3 ]; then
      event='\"event\":\"end\",\"content-state\":{\"stops\":0}'
    else
      continue
    fi
    push "$token" liveactivity '{\"aps\":{\"timestamp\":'"$now,$event"'}}'
  done <"$folder/activities" >>"$folder/pushes"
  sed 1d "$folder/pushes" >"$folder/curl"
  # All over one connection.
  curl -sS --parallel -K "$folder/curl" >>"$folder/statuses"
  widgetpush clock advance 15m >"$folder/clock"
done

# The rest of the day: what still waits for a budget goes, and the third delivery ends after eight hours.
widgetpush clock advance 18h >"$folder/clock"

if [ "$(sort "$folder/statuses" | uniq -c | tr -s ' ')" != " 500 200" ]; then
  echo "not all of 500 pushes were answered 200:" && sort "$folder/statuses" | uniq -c && exit 1
fi
widgetpush expect --type liveactivity --disposition applied --count 20 --timeout 0s >"$folder/expected"
while read -r token; do
  # Twelve at once, and then one in 51 minutes: of 24 pushes 19 go, some of them later, and stand for the other 5.
  widgetpush expect --token "$token" --disposition applied --count 19 --timeout 0s >"$folder/expected"
  widgetpush expect --token "$token" --disposition merged --count 5 --timeout 0s >"$folder/expected"
done <"$folder/widgets"
ended=$(curl -sS --cacert "$WIDGETPUSH_CA_FILE" -H "authorization: Bearer $WIDGETPUSH_READ_TOKEN" \
  "$WIDGETPUSH_DEVICE/v1/events?event=activityEnded" | grep -o '"event":"activityEnded"' | wc -l)
[ "$ended" -eq 3 ] || { echo "$ended of 3 deliveries have ended" && exit 1; }
cat "$folder/clock"
echo 'a day of 500 pushes went as expected'
