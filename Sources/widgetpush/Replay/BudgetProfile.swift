import Gateway
import JSON
import Push

/// The budgets under which a recording is played: what of an app's settings is other than it was.
struct BudgetProfile: Hashable {
  private static let parameters = [
    "allowance": "allowance", "burst": "burst", "window": "windowSeconds", "interval": "minimumIntervalSeconds",
  ]

  /// In the form of `PUT /v1/apps/{bundleID}`; it stands above what was recorded.
  var settings: JSONObject = [:]
  /// Whether every token has WidgetKit Developer Mode.
  var developerMode = false

  /// The profile that the options name; throws what is wrong with one. What a value may be is the server's to say.
  init(_ arguments: Arguments) throws {
    if let path = arguments.value("--budgets") {
      do {
        guard let object = try JSONValue.parse(Files.read(path)).objectValue else { throw CommandError("it is no JSON object") }
        if let unknown = object.keys.first(where: { !RecordingLine.appSettings.contains($0) }) {
          throw CommandError("\"\(unknown)\" is none of \(RecordingLine.appSettings.joined(separator: ", "))")
        }
        settings = object
      } catch {
        throw CommandError("\(path): \(error)")
      }
    }
    if let mode = try arguments.choice("--budget-mode", of: AppPolicy.BudgetMode.allCases.map(\.rawValue)) {
      settings["budgetMode"] = .string(mode)
    }
    for text in arguments.all("--budget") { try add(text) }
    developerMode = arguments.has("--developer-mode")
  }

  /// Adds what `KIND.PARAMETER=NUMBER` says.
  private mutating func add(_ text: String) throws(UsageError) {
    let form = "--budget KIND.PARAMETER=NUMBER, such as widgets.allowance=20"
    let sides = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
    guard sides.count == 2, let dot = sides[0].lastIndex(of: "."), let number = Double(sides[1]), number >= 0, number < 1e15 else {
      throw UsageError("\"\(text)\" is not of the form \(form)")
    }
    let (kind, name) = (String(sides[0][..<dot]), String(sides[0][sides[0].index(after: dot)...]))
    let kinds = BudgetKind.allCases.map(\.rawValue)
    guard kinds.contains(kind) else { throw UsageError("\"\(kind)\" is no budget; there are \(kinds.joined(separator: ", "))") }
    guard let parameter = Self.parameters[name] ?? (Self.parameters.values.contains(name) ? name : nil) else {
      throw UsageError("\"\(name)\" is no parameter of a budget; there are \(Self.parameters.keys.sorted().joined(separator: ", "))")
    }
    var budgets = settings["budgets"]?.objectValue ?? [:]
    var budget = budgets[kind]?.objectValue ?? [:]
    budget[parameter] = number == number.rounded() ? .integer(Int64(number)) : .number(number)
    budgets[kind] = .object(budget)
    settings["budgets"] = .object(budgets)
  }

  /// What an app's settings are for the replay: those of `base`, above them what was `recorded`, and above that the profile.
  ///
  /// A burst that the profile says nothing about is no reason to refuse its allowance.
  func applied(to base: JSONObject, recorded: JSONObject) -> JSONObject {
    var all = base.merged(recorded).merged(settings)
    Self.placeContentStates(of: [recorded, settings], in: &all)
    guard var budgets = all["budgets"]?.objectValue else { return all }
    for (kind, own) in settings["budgets"]?.objectValue ?? [:] where own["burst"] == nil {
      guard let allowance = own["allowance"]?.doubleValue, var budget = budgets[kind]?.objectValue,
        let burst = budget["burst"]?.doubleValue, burst > allowance
      else { continue }
      budget["burst"] = own["allowance"]
      budgets[kind] = .object(budget)
    }
    all["budgets"] = .object(budgets)
    return all
  }

  /// Puts content-states in the place of those that the server has among its schemas, which would win over them.
  private static func placeContentStates(of sources: [JSONObject], in all: inout JSONObject) {
    guard var schemas = all["schemas"]?.objectValue else { return }
    for (type, state) in sources.flatMap({ Array($0["contentStates"]?.objectValue ?? [:]) }) {
      var own = schemas[type]?.objectValue ?? [:]
      own["contentState"] = state
      schemas[type] = .object(own)
    }
    (all["schemas"], all["contentStates"]) = (.object(schemas), nil)
  }
}

extension JSONObject {
  /// This object with the members of `other`, whose objects are merged in turn.
  func merged(_ other: JSONObject) -> JSONObject {
    var merged = self
    for (name, value) in other {
      if let mine = merged[name]?.objectValue, let theirs = value.objectValue {
        merged[name] = .object(mine.merged(theirs))
      } else {
        merged[name] = value
      }
    }
    return merged
  }
}
