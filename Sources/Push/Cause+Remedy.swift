extension Cause {
  /// What the cause means for the push, and what to do about it.
  public var remedy: Remedy {
    switch self {
    case .none: Remedy("There is nothing to add to the disposition.", "Read the push's steps for its whole way.")

    // Why it waits, or why another stands for it.
    case .waitingForBudget:
      Remedy(
        "A budget of this token has no credit left, so the push waits for the next one.",
        "Push less often and put what can be foreseen into the widget's timeline; the command widgetpush budget shows when the next credit comes."
      )
    case .minimumInterval:
      Remedy(
        "The token's last push went out less than the minimum interval ago, so this one waits for the rest of it.",
        "Let it wait: it goes when the interval is over, and later reloads merge into it.")
    case .inFlight:
      Remedy(
        "Another push of this token is on its way, and a token has one in flight at a time.",
        "Let it wait: it goes as soon as the other one is answered.")
    case .upstreamUnavailable:
      Remedy(
        "The token's upstream could not be reached, or took the push and gave no answer.",
        "See that the upstream runs, that its address and CA in the configuration are right, and that no fault of the mock device does this (widgetpush faults list --device)."
      )
    case .upstreamFailed:
      Remedy(
        "The upstream answered with a server error (5xx), to this push or to those before it.",
        "Let it wait: it is tried again, at Apple's servers after 15 minutes as Apple advises; a push with apns-expiration 0 is given up."
      )
    case .upstreamBusy:
      Remedy(
        "The upstream takes no further push at the moment.",
        "Let it wait: it is tried again, and if this happens often, send at a lower rate or allow more upstream connections.")
    case .upstreamPaused:
      Remedy(
        "The upstream refused the gateway's own provider token, so nothing is sent to it for now.",
        "Correct the signing key, its id or the team id of this upstream; the pushes that wait then go.")
    case .appNotConfigured:
      Remedy(
        "The token's app is not among those of the gateway any more, so the push waits for its return.",
        "Name the app again, with --app or under apps in the configuration, and the push goes by itself; or remove the registration.")
    case .upstreamNotConfigured:
      Remedy(
        "The upstream that the token's registration or app names is not configured any more, so the push waits for its return.",
        "Configure an upstream of that name again, and the push goes by itself; or register the token for one that there is.")
    case .noSigningKey:
      Remedy(
        "None of the gateway's own keys may sign for the push's topic, since they are limited to other topics.",
        "Add the topic to topics of a key of the app's team, or a key that is limited to none, and send SIGHUP; the push goes within a minute."
      )
    case .coalescing:
      Remedy(
        "The push is held for coalesceSeconds, so that others can merge into it.",
        "Lower coalesceSeconds if the first reload should be sooner.")
    case .waitingForBatch:
      Remedy(
        "The push has priority 5 or 1, and the app's batchSeconds has such pushes wait for the next batch.",
        "Send with apns-priority 10 what should go at once; such a push takes along those of its token that wait for the batch.")
    case .quietHours:
      Remedy(
        "The person sleeps: the token's registration has quiet hours, in which nothing is reloaded.",
        "Let it wait: one reload goes when the quiet hours end, and those that came meanwhile merge into it.")
    case .mergedIntoWaiting:
      Remedy(
        "A reload of this token was waiting already, and one reload serves both.",
        "Follow the push named in mergedInto: the widget fetches its newest state when that one is delivered.")
    case .supersededByNewer:
      Remedy(
        "A newer push that stands for this one came before it was sent: one with the same apns-collapse-id, an update or the end of its activity, or a background push.",
        "Follow the push named in mergedInto, which stands for this one.")

    // Why it goes no further.
    case .budgetSpent:
      Remedy(
        "A budget of this token had no credit left when the push came.",
        "Spread pushes over the day, or set the app's allowance higher if your devices grant more than the estimate.", .likely)
    case .priorityLowered:
      Remedy(
        "The activity's budget for updates at priority 10 is spent, so the update went on at priority 5, as a device would show it.",
        "Send what a person need not see at once with apns-priority 5, which costs nothing; frequentUpdates raises the budget.", .likely)
    case .startBudgetSpent:
      Remedy(
        "The device has had as many start pushes as its budget allows, so this one starts nothing; it is charged all the same.",
        "Start the activity in the app, or wait: a credit takes hours to come back, and each further start push is charged as well.",
        .likely)
    case .expirationPassed:
      Remedy(
        "The push's apns-expiration passed before it could be delivered.",
        "Send a later apns-expiration, or none, which keeps the push for up to 30 days.")
    case .registrationRemoved:
      Remedy(
        "The token's registration was removed while the push waited.",
        "Register the token again if the device still uses it, then send the push again.")
    case .reset:
      Remedy(
        "Somebody with an admin token had the gateway forget the app's pushes while this one waited.",
        "Send it again if it is still wanted: registrations have stayed, and budgets are full.")
    case .droppedByPolicy:
      Remedy(
        "The push has apns-expiration 0, its budget could not pay at once, and the app's expirationZero is drop.",
        "Set expirationZero to wait, or send a later apns-expiration.")

    // Why it was refused.
    case .tokenUnknown:
      Remedy(
        "The push token is not registered here; widgetpush register TOKEN does that.",
        "Register the token first, as the app does with PUT /v1/registrations/TOKEN, or set the app's unknownTokens to adopt.")
    case .otherEnvironment:
      Remedy(
        "The token is registered for the other APNs environment than that of the host which the push was sent to.",
        "Send development tokens to api.sandbox.push.apple.com and production ones to api.push.apple.com, or register the token anew.")
    case .otherApp:
      Remedy(
        "The token is registered for another app than the topic names.",
        "Put the bundle id of the token's own app into apns-topic, or register the token for this app.")
    case .otherKind:
      Remedy(
        "The token is registered as another kind than the one that takes this push type.",
        "Use the token that the widget, control or activity itself reported, with the push type and the topic suffix of its kind.")
    case .laneFull:
      Remedy(
        "As many pushes wait for this token already as are kept for one, which is \(Limits.lanePushes) unless configured otherwise.",
        "Gather changes on your side, and send one push for the last of them.")
    case .upstreamFull:
      Remedy(
        "The pushes that wait for the token's upstream hold all the memory that there is for it, so that no more were taken in for it; those for other upstreams were.",
        "See that the upstream runs and takes pushes, then send this one again: /readyz and /metrics name the upstream, and store.waitingMegabytes of the configuration is the memory for all of them."
      )
    case .tooSoon:
      Remedy(
        "The token's last push went out less than the minimum interval ago, and the app's budgetMode is reject.",
        "Send it again after the seconds in retry-after, or set budgetMode to enforce, which lets it wait.")

    case .fault:
      Remedy(
        "A fault that somebody has set, here or on the mock device, struck the push.",
        "Look at the faults with widgetpush faults list, and with --device; widgetpush faults remove ID takes one away.")
    case .upstreamRefused:
      Remedy(
        "The upstream answered the push with an error that trying again will not change.",
        "Correct what the upstream's reason in detail names.")
    case .unregistered:
      Remedy(
        "The upstream answered 410, so the token was retired.", "Delete the token on your side; the app registers its successor by itself.")
    case .upstreamSuspectsToken:
      Remedy(
        "The upstream answered BadDeviceToken: it does not know the token, or the token belongs to the other environment.",
        "Compare the registration's environment with the build: from Xcode it is development, from TestFlight or the App Store production.",
        .likely)

    // What the device did, or why it did nothing.
    case .reloaded:
      Remedy(
        "The device asked the extension for new content and shows it.",
        "If the screen is unchanged, log what the timeline or value provider fetched and returned.")
    case .started:
      Remedy(
        "The device started the Live Activity.", "Wait for the app to report the activity's own update token, and send its updates there.")
    case .updated:
      Remedy(
        "The device shows the activity with the new content-state.",
        "If the screen is unchanged, check that the view uses the properties that changed.")
    case .ended:
      Remedy(
        "The device ended the Live Activity.",
        "Stop using its update token; a dismissal-date chooses when it leaves the Lock Screen, at most 4 hours later.")
    case .alertShown:
      Remedy(
        "The device presented the notification.",
        "If nobody saw it, look at the app's notification settings and at the Focus on the device.")
    case .badgeSet:
      Remedy(
        "The device set the number on the app's icon; the push has no words and no sound.",
        "If the icon shows none, look at the app's notification settings, where badges can be off; 0 takes the number away.")
    case .soundPlayed:
      Remedy(
        "The device played a sound; the push has no words.",
        "If nothing was heard, look at the app's notification settings, the Focus and the silent switch; the file must be in the app.")
    case .appWoken:
      Remedy(
        "The device woke the app in the background, which has about 30 seconds for its work.",
        "If nothing came of it, look at what the app does in application(_:didReceiveRemoteNotification:) and at its background modes.")
    case .callReported:
      Remedy(
        "The device gave the push to the app, which must report an incoming call at once.",
        "If no call rang, see that the app reports one to CallKit for every VoIP push; iOS ends an app that does not.")
    case .complicationUpdated:
      Remedy(
        "The device gave the push to the app, which updates its complication.",
        "If the watch face is unchanged, see that the app reloads the complication's timeline; a device takes some 50 such pushes a day.")
    case .filesSignaled:
      Remedy(
        "The device told the File Provider extension that its files have changed.",
        "If the files are unchanged, look at what the extension enumerates for the container-identifier of the payload.")
    case .locationQueried:
      Remedy(
        "The device started the app's Location Push Service Extension.",
        "If no location came, look at the extension and at the app's location permission, which must be Always.")
    case .checkedIn:
      Remedy(
        "The managed device checks in with its MDM server.", "If it does not, compare mdm with the PushMagic of the device's enrolment.")
    case .speakerAnnounced:
      Remedy(
        "The device gave the push to the Push to Talk app, which names who speaks on the channel.",
        "If nothing is heard, look at what the app returns for the incoming push and at the audio that it then plays.")
    case .passUpdated:
      Remedy(
        "Wallet asked the pass's web service for the newest pass.",
        "If the pass is unchanged, see that the web service lists its serial number as updated and sends the new pass.")
    case .noSuchHandler:
      Remedy(
        "The app no longer takes pushes of this type, or never asked for a token of it.",
        "Have the app ask for the token again, and put the type into pushes of the app's manifest on the mock device.")
    case .noSuchWidget:
      Remedy(
        "No widget that takes pushes is placed under this token.",
        "Place one, and see that its configuration has a pushHandler and the widget extension the push notifications capability.")
    case .noSuchControl:
      Remedy(
        "The control that this token names is no longer placed.",
        "Delete the token; the control push handler reports the controls that are left.")
    case .noSuchActivity:
      Remedy(
        "No Live Activity runs under this token.", "Start one first, and send updates to the token which that very activity reports.")
    case .noSubscribers:
      Remedy(
        "No Live Activity on the devices follows this channel.",
        "Start the activity with the channel's id, as pushType channel in the app or as input-push-channel in a start push.")
    case .noSuchApp:
      Remedy("The device has no app with this bundle id.", "Install the app there, or correct the bundle id in the topic.")
    case .appRemoved:
      Remedy(
        "The app has been removed from the device.", "Delete the app's tokens; Apple itself answers 410 for them only hours or days later.")
    case .payloadNotUnderstood:
      Remedy(
        "The device found nothing in the payload that this type of push could do.",
        "Send what detail asks for; with the app's validation set to strict, the gateway refuses such a payload at once and names the field."
      )
    case .contentStateNotDecodable:
      Remedy(
        "The content-state does not decode into the app's ContentState.",
        "Send every property that is not optional under its Swift name, and a Date as seconds since 2001, which is Unix time minus 978307200."
      )
    case .attributesNotDecodable:
      Remedy(
        "The attributes do not decode into the app's ActivityAttributes.",
        "Send every property that is not optional under its Swift name, of the form that the detail names; widgetpush schemas shows what is known of the type."
      )
    case .dateMisread:
      Remedy(
        "A date in the content-state or the attributes decodes into another time than was meant, which the activity would show.",
        "Send the number that the detail names; a Date of Swift is seconds since 2001, which is Unix time minus 978307200.", .likely)
    case .attributesTypeUnknown:
      Remedy(
        "The app declares no ActivityAttributes with the name in attributes-type.",
        "Send the Swift type's name exactly as it is declared, without its module.")
    case .alertMissing:
      Remedy(
        "The start push has no alert, and a device starts no activity without one.", "Add an alert with title and body to aps.")
    case .staleTimestamp:
      Remedy(
        "The push's timestamp is older than that of a push which the device has applied.",
        "Send the current Unix time in seconds with each push, taken from one clock.")
    case .futureTimestamp:
      Remedy(
        "The push's timestamp is more than 8 hours ahead, which is what milliseconds look like.",
        "Send ten-digit Unix seconds such as 1700000000.")
    case .activityEnded:
      Remedy(
        "The Live Activity had ended before the push came: by a push, by the person, or by the system after 8 hours.",
        "Start a new one, since an ended activity takes no updates.")
    case .channelUnknown:
      Remedy(
        "The start names a channel in aps.input-push-channel that the app does not have in this environment, so no activity was started.",
        "Create the channel first and send its id as the answer had it; an id works in the environment in which it was made, until it is deleted."
      )
    case .activityLimitReached:
      Remedy(
        "The device runs as many Live Activities of the app as it allows, so it started no other.",
        "End activities that are over, with an end push to their update tokens.")
    case .tokenKindMismatch:
      Remedy(
        "A start was sent to an update token, or an update or end to a push-to-start token.",
        "Send start to the push-to-start token, and update and end to the token of the activity.")
    case .permissionDenied:
      Remedy(
        "Live Activities of this app are switched off on the device.",
        "Ask the person to allow them in Settings; the app can see it in areActivitiesEnabled.")
    }
  }
}
