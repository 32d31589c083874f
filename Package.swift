// swift-tools-version: 6.3
import PackageDescription

// Every target: Swift 6 language mode, warnings as errors, explicit import visibility.
let common: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableExperimentalFeature("Lifetimes"),
  .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
]

// Targets that see no C module: every use of unsafe memory must be marked.
let safe: [SwiftSetting] = common + [.strictMemorySafety(), .treatAllWarnings(as: .error)]

// The named importers of a C module: the same, but an unmarked pointer is a warning there.
let importer: [SwiftSetting] = common + [.treatAllWarnings(as: .error)]

let tests: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableExperimentalFeature("Lifetimes"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "widgetpush",
  products: [
    .executable(name: "widgetpush", targets: ["widgetpush"]),
    // Preloaded into a server by the tests that count allocations.
    .library(name: "AllocCounter", type: .dynamic, targets: ["CAllocCounter"]),
  ],
  targets: [
    // Layer 0: C libraries, as module maps and tiny shims.
    .target(name: "CLinux"),
    .target(name: "COpenAPI"),
    .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2"),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl"),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3"),
    .systemLibrary(name: "CHTTPParser"),
    .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1"),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl"),

    // Layer 1: memory and time.
    .target(name: "Primitives", swiftSettings: safe),

    // Layer 2: the field's nouns, and one mechanism each.
    .target(name: "Push", dependencies: ["Primitives"], swiftSettings: safe),
    .target(name: "JSON", dependencies: ["Primitives"], swiftSettings: safe),
    .target(name: "SafeFiles", swiftSettings: safe),
    .target(name: "Telemetry", dependencies: ["Primitives"], swiftSettings: safe),
    .target(name: "Reactor", dependencies: ["CLinux", "Primitives"], swiftSettings: importer),
    .target(name: "Security", dependencies: ["COpenSSL", "Primitives"], swiftSettings: importer),
    .target(name: "HTTP2", dependencies: ["CNghttp2", "CLinux", "Primitives"], swiftSettings: importer),
    .target(name: "HTTPClient", dependencies: ["CCurl", "Primitives"], swiftSettings: importer),
    .target(name: "YAML", dependencies: ["CYAML", "Primitives"], swiftSettings: importer),

    // Layer 3: connections, and the pure decisions.
    .target(name: "Transport", dependencies: ["HTTP2", "Primitives", "Reactor", "Security"], swiftSettings: safe),
    .target(name: "Rules", dependencies: ["JSON", "Primitives", "Push"], swiftSettings: safe),
    .target(name: "Delivery", dependencies: ["Primitives", "Push"], swiftSettings: safe),
    .target(name: "Faults", dependencies: ["JSON", "Primitives", "Push"], swiftSettings: safe),
    .target(name: "Configuration", dependencies: ["JSON", "Primitives", "Push", "YAML"], swiftSettings: safe),
    .target(name: "SwiftSource", dependencies: ["JSON", "Primitives", "Push"], swiftSettings: safe),

    // Layer 4: state, upstreams, the device, the control side.
    .target(name: "Storage", dependencies: ["CSQLite", "Delivery", "Primitives", "Push", "Reactor", "SafeFiles"], swiftSettings: importer),
    .target(
      name: "Forwarding", dependencies: ["Delivery", "HTTP2", "JSON", "Primitives", "Push", "Reactor", "Security", "Transport"],
      swiftSettings: safe),
    .target(
      name: "ProviderAPI",
      dependencies: ["Faults", "HTTP2", "Primitives", "Push", "Reactor", "Rules", "Security", "Transport"], swiftSettings: safe),
    .target(name: "DeviceModel", dependencies: ["JSON", "Primitives", "Push", "Rules"], swiftSettings: safe),
    .target(
      name: "Control",
      dependencies: [
        "CHTTPParser", "COpenAPI", "Configuration", "Faults", "HTTP2", "JSON", "Primitives", "Push", "Reactor", "Security", "Telemetry",
        "Transport",
      ],
      swiftSettings: importer),

    // Layer 5: compositions.
    .target(
      name: "Gateway",
      dependencies: [
        "Configuration", "Control", "Delivery", "Faults", "Forwarding", "HTTP2", "HTTPClient", "JSON", "Primitives", "ProviderAPI",
        "Push", "Reactor", "Rules", "Security", "Storage", "Telemetry", "Transport",
      ],
      swiftSettings: safe),
    .target(
      name: "MockDevice",
      dependencies: [
        "Configuration", "Control", "DeviceModel", "Faults", "HTTP2", "HTTPClient", "JSON", "Primitives", "ProviderAPI", "Push",
        "Reactor", "Rules", "Security", "Telemetry", "Transport",
      ],
      swiftSettings: safe),

    // Layer 6: the command line.
    .executableTarget(
      name: "widgetpush",
      dependencies: [
        "Configuration", "Control", "DeviceModel", "Gateway", "HTTP2", "HTTPClient", "JSON", "MockDevice", "Primitives", "Push", "Reactor",
        "Rules", "SafeFiles", "Security", "Storage", "SwiftSource", "Telemetry", "Transport",
      ],
      swiftSettings: safe),

    // How many random runs a test makes.
    .target(name: "Seeds", path: "Tests/Support/Seeds", swiftSettings: tests),
    // What happened on other threads, to be waited for.
    .target(name: "Recorder", path: "Tests/Support/Recorder", swiftSettings: tests),

    .testTarget(name: "PrimitivesTests", dependencies: ["Primitives"], swiftSettings: tests),
    .testTarget(name: "PushTests", dependencies: ["Primitives", "Push"], swiftSettings: tests),
    .testTarget(name: "JSONTests", dependencies: ["JSON", "Primitives", "Seeds", "SwiftSource"], swiftSettings: tests),
    .testTarget(name: "TelemetryTests", dependencies: ["Primitives", "Telemetry"], swiftSettings: tests),
    .testTarget(name: "ReactorTests", dependencies: ["Primitives", "Reactor", "Seeds"], swiftSettings: tests),
    .testTarget(name: "SafeFilesTests", dependencies: ["SafeFiles"], swiftSettings: tests),
    .testTarget(name: "SecurityTests", dependencies: ["Primitives", "Security"], swiftSettings: tests),
    .testTarget(name: "HTTP2Tests", dependencies: ["CNghttp2", "HTTP2", "Primitives", "Seeds"], swiftSettings: tests),
    .testTarget(name: "HTTPClientTests", dependencies: ["HTTPClient", "Primitives"], swiftSettings: tests),
    .testTarget(name: "YAMLTests", dependencies: ["Primitives", "YAML"], swiftSettings: tests),
    .testTarget(
      name: "TransportTests", dependencies: ["HTTP2", "Primitives", "Reactor", "Security", "Seeds", "Transport"], swiftSettings: tests),
    .testTarget(name: "RulesTests", dependencies: ["JSON", "Primitives", "Push", "Rules", "Seeds"], swiftSettings: tests),
    .testTarget(name: "SwiftSourceTests", dependencies: ["JSON", "Primitives", "Push", "Seeds", "SwiftSource"], swiftSettings: tests),
    .testTarget(name: "FaultsTests", dependencies: ["Faults", "JSON", "Primitives", "Push", "Seeds"], swiftSettings: tests),
    .testTarget(name: "DeliveryTests", dependencies: ["Delivery", "Primitives", "Push", "Seeds"], swiftSettings: tests),
    .testTarget(name: "ConfigurationTests", dependencies: ["Configuration", "Primitives", "Push", "YAML"], swiftSettings: tests),
    .testTarget(
      name: "StorageTests", dependencies: ["CSQLite", "Delivery", "Primitives", "Push", "Recorder", "Seeds", "Storage"],
      swiftSettings: tests),
    .testTarget(
      name: "ForwardingTests",
      dependencies: ["Delivery", "Forwarding", "HTTP2", "Primitives", "Push", "Reactor", "Security", "Transport"], swiftSettings: tests),
    .testTarget(
      name: "DeviceModelTests", dependencies: ["DeviceModel", "JSON", "Primitives", "Push", "Rules", "Seeds"], swiftSettings: tests),
    .testTarget(
      name: "ControlTests",
      dependencies: [
        "Control", "HTTP2", "JSON", "Primitives", "Push", "Reactor", "Recorder", "Security", "Seeds", "Telemetry", "Transport",
      ],
      swiftSettings: tests),
    .testTarget(
      name: "GatewayTests",
      dependencies: [
        "Configuration", "Control", "Faults", "Gateway", "HTTP2", "JSON", "Primitives", "Push", "Reactor", "Rules", "Security", "Storage",
        "Telemetry", "Transport",
      ],
      swiftSettings: tests),
    // The ways in that are fuzzed; their corpora are replayed by the tests.
    .target(
      name: "FuzzEntries",
      dependencies: [
        "Configuration", "Delivery", "Forwarding", "Gateway", "HTTP2", "JSON", "Primitives", "ProviderAPI", "Push", "Rules",
      ],
      path: "Tests/Fuzz/Entries", swiftSettings: tests),
    .testTarget(name: "FuzzTests", dependencies: ["FuzzEntries"], swiftSettings: tests),
    .target(name: "CAllocCounter", path: "Tests/Support/CAllocCounter"),
    .testTarget(
      name: "MockDeviceTests",
      dependencies: [
        "Configuration", "Control", "DeviceModel", "Gateway", "HTTP2", "HTTPClient", "JSON", "MockDevice", "Primitives", "Push", "Reactor",
        "Recorder", "Security", "Telemetry", "Transport",
      ],
      swiftSettings: tests),
    .testTarget(
      name: "CommandLineTests",
      dependencies: [
        "Configuration", "Control", "DeviceModel", "Gateway", "HTTP2", "HTTPClient", "JSON", "MockDevice", "Primitives", "Push", "Security",
        "Transport",
        "YAML", "widgetpush",
      ],
      swiftSettings: tests),
    .testTarget(name: "RepositoryTests", dependencies: ["Push", "Rules"], swiftSettings: tests),
    .testTarget(
      name: "IntegrationTests", dependencies: ["HTTP2", "Primitives", "Push", "Reactor", "Security", "Transport", "widgetpush"],
      swiftSettings: tests),
  ]
)

// scripts/fuzz builds this one apart, with libFuzzer.
if Context.environment["WIDGETPUSH_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(name: "fuzz", dependencies: ["FuzzEntries"], path: "Tests/Fuzz/Driver", swiftSettings: [.swiftLanguageMode(.v6)]))
}

// Keeps the named test targets alone, such as "StorageTests,RulesTests": a build for them takes no others along. scripts/test --long plays
// the lives of LaneModelTests so, in an optimised build.
if let names = Context.environment["WIDGETPUSH_TEST_TARGETS"]?.split(separator: ",").map(String.init) {
  package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}
