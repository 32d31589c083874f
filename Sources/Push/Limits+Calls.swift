// Bounds of what callers of the control side and of a mock device may have at once.
extension Limits {
  // MARK: Answers

  /// Bytes of the rows of one page of a list; with the row that goes beyond, the page ends. A thousand pushes of ordinary size fit.
  public static let pageBytes = 2 << 20
  /// Pages that are made at once, each of which is held several times while it becomes text.
  public static let pagesInWork = 4
  /// Bytes of answers that may wait to be read on one connection: two pages.
  public static let unreadBytesOfConnection = 4 << 20
  /// Bytes of answers that may wait to be read by the holders of one access token, all connections together.
  public static let unreadBytesOfCaller = 16 << 20
  /// Bytes of answers that may wait to be read in all.
  public static let unreadBytes = 48 << 20
  /// Bytes of an answer that is not counted among them: there are as many as requests, and health and errors are always told.
  public static let unreadBytesUncounted = 4 << 10
  /// Milliseconds between two looks at the access tokens of calls that last: a stream ends so soon after its token was revoked.
  public static let accessRecheckMilliseconds: Int64 = 2000

  // MARK: Shares

  // Registrations are shared in the same way, without the last two: nobody knows which access token has made one. An app that others stand
  // beside has at most `shareOfApp` of `registrations`, by tokens of its own and by pushes that adopt tokens; a token that sees all apps
  // is the operator's, and is bound by `registrations` alone.

  /// The part of what all have together that the holders of one access token may have: a half.
  public static let shareOfToken = 2
  /// The part of it that one app may have: a quarter. Tokens of one app share it; one that sees all apps is bound by its own alone.
  public static let shareOfApp = 4
  /// The part of it that is kept for those who have nothing yet: the last quarter.
  public static let shareKept = 4
}
