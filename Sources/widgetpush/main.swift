print("widgetpush")
