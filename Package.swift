// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// The pure core is optimized in debug builds too, with assertions on: the tests run it for minutes, most of all in
/// the simulator's hundreds of seeds. `TOMBOLO_DEBUG_CORE=1` turns that off for a debugger. A package that others
/// depend on by version can't have such flags.
let optimizesCore =
    Context.environment["TOMBOLO_DEBUG_CORE"] == nil && !Context.packageDirectory.contains("/checkouts/")
let coreSettings =
    optimizesCore
    ? settings + [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))] : settings

/// A library of the pure core.
func core(_ name: String, _ path: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Packages/\(path)", swiftSettings: coreSettings)
}

/// A library of this project in `Packages/`, where folders are layers: `Core/Model`.
func library(_ name: String, _ path: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Packages/\(path)", swiftSettings: settings)
}

/// An executable of this project in `Apps/`.
func app(_ name: String, _ path: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: "Apps/\(path)", swiftSettings: settings)
}

/// A test target of this project, in the folder of `Tests/` with its name.
func tests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: settings)
}

/// A library that only tests use.
func testLibrary(_ name: String, _ path: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/\(path)", swiftSettings: settings)
}

let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let protobuf = Target.Dependency.product(name: "SwiftProtobuf", package: "swift-protobuf")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioWebSocket = Target.Dependency.product(name: "NIOWebSocket", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioHTTPTypesHTTP1 = Target.Dependency.product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let hummingbirdTesting = Target.Dependency.product(name: "HummingbirdTesting", package: "hummingbird")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let jwt = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
/// `FilePath` for systems that don't provide it.
let systemPackage = Target.Dependency.product(
    name: "SystemPackage", package: "swift-system", condition: .when(platforms: [.linux]))
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let tracing = Target.Dependency.product(name: "Tracing", package: "swift-distributed-tracing")
let mustache = Target.Dependency.product(name: "Mustache", package: "swift-mustache")

let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
/// The modules that every part of sync needs.
let sync: [Target.Dependency] = ["TomboloModel", "TomboloChangesets", "TomboloSyncProtocol", "TomboloSyncSession"]
/// What every server executable needs.
let server: [Target.Dependency] = [
    "PostgresClient", "TomboloAuthentication", "TomboloHTTP", "TomboloMetrics", "TomboloMigration",
    "TomboloServerModel", arguments, lifecycle, logging, unixSignals,
]

/// What tests of HTTP services need.
let service: [Target.Dependency] = [
    "PostgresClient", "TestSupport", "TomboloAuthentication", "TomboloHTTP", "TomboloModel", "TomboloRules",
    hummingbird,
    hummingbirdTesting, httpTypes, logging, nioCore,
]

/// Apps use Tombolo or RealmSwift; the others are for custom services, and for the benchmarks.
let libraries: [Product] = [
    "Tombolo", "RealmSwift", "AdminPanel", "AdminService", "AdminServing", "ConferenceSetup", "DatabaseManager",
    "EventModels", "GatewayService", "ListingModels",
    "PostgresClient", "TicketService", "TomboloAuthentication", "TomboloChangesets", "TomboloHTTP",
    "TomboloLocalization", "TomboloMigration", "TomboloModel", "TomboloPostgresStore", "TomboloRules",
    "TomboloSQLiteStore", "TomboloServerModel",
    "TomboloSyncClient", "TomboloSyncProtocol", "TomboloSyncSession",
].map { .library(name: $0, targets: [$0]) }

let package = Package(
    name: "Tombolo",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: libraries + [
        .executable(name: "sync-gateway", targets: ["SyncGateway"]),
        .executable(name: "admin-server", targets: ["AdminServer"]),
        .executable(name: "ticket-api", targets: ["TicketAPI"]),
        .executable(name: "conference", targets: ["ConferenceTool"]),
        .executable(name: "conference-admin", targets: ["ConferenceAdmin"]),
        .executable(name: "migration-tool", targets: ["MigrationTool"]),
        .executable(name: "tombolo", targets: ["TomboloDevelopment"]),
        .executable(name: "listings", targets: ["Listings"]),
        .executable(name: "susi", targets: ["SUSI"]),
        .executable(name: "demo", targets: ["Demo"]),
        .executable(name: "demo-device", targets: ["DemoDevice"]),
        .executable(name: "simulate", targets: ["Simulate"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        // Pure core: no sockets, files, clocks or randomness except as parameters.
        core("TomboloModel", "Core/Model"),
        core("TomboloSQL", "Core/SQL", ["TomboloModel"]),
        core("TomboloChangesets", "Core/Changesets", ["TomboloModel"]),
        core("TomboloRules", "Core/Rules", ["TomboloModel", "TomboloChangesets"]),
        core("TomboloRuleDocuments", "Core/RuleDocuments", ["TomboloModel", "TomboloRules", yams]),
        .target(
            name: "TomboloSyncProtocol", dependencies: ["TomboloModel", "TomboloChangesets", protobuf],
            path: "Packages/Core/SyncProtocol", exclude: ["Proto"], swiftSettings: coreSettings),
        core(
            "TomboloSyncSession", "Core/SyncSession",
            ["TomboloModel", "TomboloChangesets", "TomboloSyncProtocol", deque]),
        .target(
            name: "EventModels", dependencies: ["TomboloModel", "TomboloRules", "TomboloRuleDocuments"],
            path: "Packages/Conference/EventModels", resources: [.embedInCode("conference.rules.yaml")],
            swiftSettings: settings),
        core("TomboloSimulator", "Tools/Simulator", sync),
        library("Codemod", "Tools/Codemod"),
        library("ChildPrograms", "Tools/ChildPrograms", [subprocess, systemPackage]),

        // Stores and network.
        .systemLibrary(
            name: "CLibPQ", path: "Packages/Server/CLibPQ", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        library("PostgresClient", "Server/PostgresClient", ["CLibPQ", logging]),
        library("Batching", "Server/Batching", [deque]),
        library("PostgresValues", "Server/PostgresValues", ["TomboloModel", "TomboloSQL", "PostgresClient"]),
        library("TomboloSQLiteStore", "Device/SQLiteStore", sync + ["TomboloSQL", crypto, grdb, grdbSQLite]),
        library(
            "TomboloPostgresStore", "Server/PostgresStore",
            sync + ["Batching", "TomboloLocalization", "TomboloSQL", "PostgresClient", "PostgresValues", logging]),
        library("TomboloTracing", "Network/Tracing", [tracing]),
        library("TomboloWebSocket", "Network/WebSocket", [logging, nioCore, nioPosix, nioHTTP1, nioWebSocket, nioSSL]),

        library(
            "TomboloRedis", "Network/Redis", ["TomboloWebSocket", logging, nioCore, nioPosix, nioSSL]),

        // Client.
        library(
            "TomboloSyncClient", "Device/SyncClient",
            sync + ["TomboloTracing", "TomboloWebSocket", logging, nioCore, nioPosix, tracing]),
        library(
            "Tombolo", "Device/Tombolo",
            sync + [
                "TomboloSQL", "TomboloSQLiteStore", "TomboloSyncClient", "TomboloWebSocket", asyncHTTPClient, grdb,
                logging, nioCore, nioHTTP1,
            ]),
        library("TomboloObservables", "Device/Observables", ["Tombolo", "TomboloModel"]),
        // Empty on systems without SwiftUI.
        library("TomboloSwiftUI", "Device/SwiftUI", ["Tombolo", "TomboloObservables"]),
        library("RealmSwift", "Device/RealmSwift", ["Tombolo", "TomboloObservables", "TomboloSwiftUI"]),
        library("DatabaseManager", "Device/DatabaseManager", ["Tombolo"]),

        // Services.
        library(
            "TomboloAuthentication", "Server/Authentication",
            [
                "Batching", "TomboloLocalization", "TomboloModel", "TomboloRules", "PostgresClient", asyncHTTPClient,
                crypto, cryptoExtras, jwt, lifecycle, logging, nioCore, nioHTTP1, nioPosix, nioSSL,
            ]),
        library(
            "TomboloServerModel", "Server/ServerModel",
            [
                "PostgresClient", "TomboloAuthentication", "TomboloLocalization", "TomboloModel",
                "TomboloPostgresStore", "TomboloRuleDocuments", "TomboloRules", lifecycle, logging,
            ]),
        library(
            "TomboloTraceExport", "Server/TraceExport",
            [asyncHTTPClient, lifecycle, logging, nioCore, nioHTTP1, tracing]),
        library("TomboloMetrics", "Server/Metrics", [coreMetrics]),
        library("TomboloLocalization", "Server/Localization", ["TomboloModel"]),
        library("TomboloMarkdown", "Server/Markdown", ["TomboloHTTP"]),
        library(
            "TomboloHTTP", "Server/HTTP",
            [
                "Batching", "TomboloAuthentication", "TomboloLocalization", "TomboloMetrics", "TomboloModel",
                "TomboloRules",
                "TomboloSQL", "PostgresClient", "PostgresValues", coreMetrics, hummingbird, hummingbirdCore, httpTypes,
                lifecycle,
                logging, nioCore, nioHTTP1, nioHTTPTypesHTTP1, nioSSL, unixSignals,
            ]),
        library(
            "GatewayService", "Server/GatewayService",
            sync + [
                "PostgresClient", "TomboloAuthentication", "TomboloHTTP", "TomboloMetrics", "TomboloPostgresStore",
                "TomboloRedis", "TomboloRules", "TomboloServerModel", "TomboloTracing", "TomboloWebSocket", coreMetrics,
                deque, httpTypes, hummingbird, hummingbirdCore, lifecycle, logging, nioCore, nioHTTP1, nioHTTPTypes,
                nioHTTPTypesHTTP1, nioPosix, tracing,
            ]),
        library(
            "TomboloJSONAPI", "Server/JSONAPI",
            [
                "Batching", "PostgresClient", "PostgresValues", "TomboloHTTP", "TomboloLocalization", "TomboloModel",
                "TomboloPostgresStore", "TomboloRules", "TomboloSQL", crypto, hummingbird, httpTypes, nioCore,
            ]),
        library(
            "AdminService", "Server/AdminService",
            [
                "PostgresClient", "PostgresValues", "TomboloAuthentication", "TomboloHTTP", "TomboloJSONAPI",
                "TomboloLocalization", "TomboloMetrics", "TomboloModel", "TomboloPostgresStore", "TomboloRules",
                "TomboloSQL", "TomboloServerModel", crypto, hummingbird, httpTypes, lifecycle, logging,
            ]),
        .target(
            name: "AdminPanel",
            dependencies: [
                "AdminService", "PostgresClient", "PostgresValues", "TomboloAuthentication", "TomboloHTTP",
                "TomboloJSONAPI", "TomboloLocalization", "TomboloMarkdown", "TomboloModel", "TomboloPostgresStore",
                "TomboloRules", "TomboloServerModel", "TomboloSQL", crypto, hummingbird, httpTypes, lifecycle, logging,
                mustache,
                nioCore,
            ],
            path: "Packages/Server/AdminPanel",
            resources: [.embedInCode("Assets"), .embedInCode("Templates")], swiftSettings: settings),
        library(
            "TicketService", "Conference/TicketService",
            [
                "Batching", "EventModels", "PostgresClient", "PostgresValues", "TomboloAuthentication", "TomboloHTTP",
                "TomboloMarkdown", "TomboloMetrics", "TomboloModel", "TomboloPostgresStore", "TomboloRules",
                "TomboloSQL",
                hummingbird, httpTypes, logging, mustache,
            ]),
        library(
            "OpenEventImport", "Conference/OpenEventImport",
            ["EventModels", "PostgresClient", "PostgresValues", "TomboloModel", "TomboloSQL", crypto]),
        library(
            "TomboloMigration", "Tools/Migration",
            [
                "PostgresClient", "PostgresValues", "TomboloAuthentication", "TomboloLocalization", "TomboloModel",
                "TomboloPostgresStore", "TomboloRuleDocuments", "TomboloRules", "TomboloSQL", "TomboloServerModel",
                logging,
            ]),
        library(
            "ToolSupport", "Tools/ToolSupport",
            ["PostgresClient", "TomboloAuthentication", "TomboloModel", arguments, logging]),
        library(
            "DevelopmentSupport", "Tools/DevelopmentSupport",
            ["GatewayService", "PostgresClient", "TomboloMigration", "ToolSupport", arguments, logging]),
        library(
            "AdminServing", "Tools/AdminServing",
            [
                "AdminPanel", "AdminService", "PostgresClient", "TomboloAuthentication", "TomboloHTTP",
                "TomboloMetrics", "TomboloMigration", "TomboloServerModel", arguments, lifecycle, logging, unixSignals,
            ]),
        library(
            "TomboloInspection", "Tools/Inspection",
            ["TomboloHTTP", "ToolSupport", asyncHTTPClient, nioCore, nioHTTP1, nioPosix, nioSSL]),
        library(
            "ConferenceSetup", "Conference/ConferenceSetup",
            [
                "EventModels", "OpenEventImport", "PostgresClient", "TomboloAuthentication", "TomboloMigration",
                "TomboloModel", "TomboloPostgresStore",
            ]),

        .target(
            name: "ConferencePanel",
            dependencies: [
                "AdminPanel", "EventModels", "PostgresClient", "PostgresValues", "TomboloHTTP", "TomboloLocalization",
                "TomboloModel", "TomboloRules",
            ],
            path: "Packages/Conference/ConferencePanel", resources: [.embedInCode("Templates")],
            swiftSettings: settings),

        // Apps.
        app(
            "SyncGateway", "SyncGateway",
            server + [
                "DevelopmentSupport", "GatewayService", "TomboloPostgresStore", "TomboloRedis", "TomboloTraceExport",
            ]),
        app("AdminServer", "AdminServer", ["AdminServing"]),
        app(
            "TomboloDevelopment", "Tombolo",
            server + [
                "AdminService", "AdminServing", "DevelopmentSupport", "GatewayService", "TomboloInspection",
                "ToolSupport",
            ]),
        app(
            "MigrationTool", "MigrationTool",
            [
                "Codemod", "PostgresClient", "TomboloAuthentication", "TomboloMigration", "TomboloModel",
                "TomboloPostgresStore", "TomboloRules", "TomboloServerModel", "ToolSupport", arguments,
            ]),
        app("Simulate", "Simulate", ["TomboloSimulator", arguments]),
        .executableTarget(
            name: "ConferenceTool",
            dependencies: [
                "ConferenceSetup", "OpenEventImport", "PostgresClient", "TomboloAuthentication", "TomboloMigration",
                "TomboloModel", "TomboloPostgresStore", "ToolSupport", arguments,
            ],
            path: "Apps/Conference/Tool", resources: [.copy("Samples")], swiftSettings: settings),
        app("TicketAPI", "Conference/TicketAPI", server + ["ConferenceSetup", "TicketService"]),
        app("ConferenceAdmin", "Conference/Admin", ["AdminServing", "ConferencePanel"]),
        app("Demo", "Conference/Demo", ["ChildPrograms", arguments, asyncHTTPClient, nioCore, nioHTTP1]),
        app("DemoDevice", "Conference/DemoDevice", ["EventModels", "ListingModels", "Tombolo"]),
        app("ReadmeExample", "Examples/Readme", ["RealmSwift"]),
        app("NotesExample", "Examples/Notes", ["RealmSwift"]),
        .target(
            name: "ListingModels", dependencies: ["TomboloModel"], path: "Apps/Examples/Listings/Model",
            swiftSettings: settings),
        app("Listings", "Examples/Listings/App", ["ListingModels", "Tombolo", arguments]),
        app("SUSI", "Examples/SUSI", ["Tombolo", arguments, asyncHTTPClient, crypto, nioCore, nioHTTP1]),

        // Tests.
        testLibrary("TestSupport", "TestSupport", ["ChildPrograms", "PostgresClient", "TomboloModel", logging]),
        testLibrary("RandomValues", "RandomValues", ["TomboloModel"]),
        testLibrary("DeviceStoreConformance", "Conformance/DeviceStoreConformance", sync + ["RandomValues"]),
        testLibrary("ServerStoreConformance", "Conformance/ServerStoreConformance", sync + ["RandomValues"]),
        testLibrary(
            "ServiceTestSupport", "ServiceTestSupport",
            service + [
                "ConferenceSetup", "EventModels", "PostgresValues", "TomboloMigration", "TomboloPostgresStore",
                "TomboloRuleDocuments", "TomboloSQL", "TomboloServerModel", hummingbirdCore, lifecycle,
            ]),
        // As in other people's packages, imports are public by default.
        .target(
            name: "SeedModels", dependencies: ["RealmSwift"], path: "Tests/Codemod/SeedModels",
            swiftSettings: [.treatAllWarnings(as: .error)]),
        .testTarget(
            name: "CodemodTests",
            dependencies: ["Codemod", "MigrationTool", "RealmSwift", "SeedModels", "ChildPrograms"],
            path: "Tests/CodemodTests", exclude: ["Fixtures"], swiftSettings: settings),
        .target(
            name: "ReversedModels", dependencies: ["RealmSwift"], path: "Tests/Migration/ReversedModels",
            swiftSettings: [.treatAllWarnings(as: .error)]),
        tests("ModuleGraphTests", ["ChildPrograms"]),
        tests("DocumentationTests"),
        tests("ModelTests", ["RandomValues", "TomboloModel"]),
        tests(
            "SQLTests",
            [
                "RandomValues", "TomboloModel", "TomboloRuleDocuments", "TomboloRules", "TomboloSQL", "PostgresClient",
                "PostgresValues", "TestSupport", grdb,
            ]),
        tests(
            "PostgresValuesTests",
            ["RandomValues", "TomboloModel", "TomboloSQL", "PostgresClient", "PostgresValues", "TestSupport"]),
        tests("ChangesetsTests", sync),
        tests("SyncProtocolTests", sync + ["RandomValues", protobuf]),
        tests("SyncSessionTests", sync + ["RandomValues"]),
        tests("SimulatorTests", sync + ["TomboloSimulator", "DeviceStoreConformance", "ServerStoreConformance"]),
        .testTarget(
            name: "TomboloRulesTests",
            dependencies: [
                "RandomValues", "TomboloModel", "TomboloChangesets", "TomboloRules", "TomboloRuleDocuments",
            ],
            path: "Tests/TomboloRulesTests", exclude: ["Documents"], swiftSettings: settings),
        .testTarget(
            name: "EventModelsTests",
            dependencies: [
                "EventModels", "RandomValues", "TomboloModel", "TomboloChangesets", "TomboloRules",
                "TomboloRuleDocuments",
            ],
            path: "Tests/EventModelsTests", resources: [.embedInCode("permission-matrix.csv")], swiftSettings: settings),
        tests("PostgresClientTests", ["PostgresClient", "TestSupport"]),
        tests("SQLiteStoreTests", sync + ["RandomValues", "TomboloSQLiteStore", "DeviceStoreConformance"]),
        tests(
            "PostgresStoreTests",
            sync + [
                "TomboloPostgresStore", "TomboloSQLiteStore", "PostgresClient", "RandomValues", "TestSupport",
                "ServerStoreConformance", logging,
            ]),
        .executableTarget(
            name: "LocalApp", dependencies: ["Tombolo", "TomboloSQLiteStore"], path: "Tests/Processes/LocalApp",
            swiftSettings: settings),
        tests(
            "TomboloTests",
            sync + ["LocalApp", "RandomValues", "RealmSwift", "ChildPrograms", "Tombolo", "TomboloSQLiteStore"]),
        tests("ObservablesTests", ["Tombolo", "TomboloModel", "TomboloObservables"]),
        .testTarget(
            name: "SwiftUITests", dependencies: ["ChildPrograms", "RealmSwift"], path: "Tests/SwiftUITests",
            exclude: ["StandIns", "Example"], swiftSettings: settings),
        .executableTarget(
            name: "LegacyDatabase", dependencies: ["DatabaseManager", "RealmSwift"],
            path: "Tests/Processes/LegacyDatabase", swiftSettings: settings),
        tests("BatchingTests", ["Batching"]),
        tests("DatabaseManagerTests", ["DatabaseManager", "LegacyDatabase", "RealmSwift", "ChildPrograms", grdb]),
        tests("SUSITests", ["RandomValues", "SUSI", "ChildPrograms", "Tombolo"]),
        tests(
            "TomboloAuthenticationTests",
            [
                "TomboloAuthentication", "TomboloHTTP", "TomboloLocalization", "TomboloModel", "TomboloRules",
                "PostgresClient", "ServiceTestSupport", "TomboloPostgresStore", "TestSupport", crypto, hummingbirdCore,
                hummingbirdTesting, httpTypes, jwt, logging, nioCore,
            ]),
        tests(
            "OpenEventImportTests",
            [
                "OpenEventImport", "TomboloModel", "EventModels", "ConferenceTool", "PostgresClient", "RandomValues",
                "ChildPrograms", "TestSupport", "TomboloPostgresStore",
            ]),
        tests(
            "TomboloMigrationTests",
            [
                "TomboloMigration", "TomboloAuthentication", "TomboloModel", "PostgresClient", "TomboloPostgresStore",
                "ChildPrograms", "MigrationTool", "ReversedModels", "TestSupport", "TomboloChangesets",
                "TomboloServerModel", logging,
            ]),
        tests(
            "ConferenceSetupTests",
            [
                "ConferenceSetup", "EventModels", "OpenEventImport", "PostgresClient", "TestSupport",
                "TomboloAuthentication", "TomboloMigration", "TomboloModel", "TomboloPostgresStore", "TomboloRules",
                "TomboloServerModel", "ConferenceTool", "ChildPrograms",
            ]),
        tests(
            "ListingsTests",
            [
                "ListingModels", "PostgresClient", "TestSupport", "TomboloMigration", "TomboloModel", "TomboloRules",
                "TomboloServerModel",
            ]),
        tests("TomboloTraceExportTests", ["TomboloTraceExport", "TomboloTracing", logging, tracing]),
        tests("LocalizationTests", ["TomboloLocalization", "TomboloModel"]),
        tests("MarkdownTests", ["TomboloMarkdown"]),
        tests("TomboloMetricsTests", ["TestSupport", "TomboloMetrics", coreMetrics]),
        tests(
            "HTTPTests",
            service + [
                "RandomValues", "ServiceTestSupport", "TomboloMetrics", "TomboloRuleDocuments", hummingbirdCore,
                nioEmbedded, nioHTTP1, nioPosix, nioSSL,
            ]),
        tests(
            "WebSocketTests",
            [
                "RandomValues", "TestSupport", "TomboloWebSocket", crypto, nioCore, nioEmbedded, nioHTTP1, nioPosix,
                nioSSL, nioWebSocket,
            ]),
        tests("InspectionTests", ["TomboloHTTP", "TomboloInspection"]),
        tests("RedisTests", ["RandomValues", "TestSupport", "TomboloRedis", logging, nioCore, nioPosix]),
        tests(
            "GatewayServiceTests",
            sync + [
                "GatewayService", "PostgresClient", "RandomValues", "TestSupport", "Tombolo", "TomboloHTTP",
                "TomboloAuthentication", "TomboloMetrics", "TomboloPostgresStore", "TomboloRedis", "TomboloRules",
                "ServiceTestSupport", "TomboloMigration", "TomboloServerModel", "TomboloSyncClient", "TomboloWebSocket",
                httpTypes, hummingbirdTesting, lifecycle, logging, nioCore, nioPosix,
            ]),
        tests(
            "AdminServiceTests",
            service + [
                "AdminService", "PostgresValues", "TicketService", "ServiceTestSupport", "TomboloChangesets",
                "TomboloJSONAPI", "TomboloLocalization",
                "TomboloMigration", "TomboloPostgresStore", "TomboloRuleDocuments", "TomboloServerModel", lifecycle,
            ]),
        tests(
            "AdminPanelTests",
            service + [
                "AdminPanel", "AdminService", "ConferencePanel", "PostgresValues", "ServiceTestSupport",
                "TomboloJSONAPI", "TomboloLocalization", "TomboloMarkdown", "TomboloMigration", "TomboloPostgresStore",
                "TomboloServerModel",
                crypto,
            ]),
        tests(
            "TicketServiceTests",
            service + [
                "EventModels", "PostgresValues", "RandomValues", "TicketService", "TomboloRuleDocuments",
                "ServiceTestSupport", "TomboloServerModel",
            ]),
        .executableTarget(
            name: "EndToEndDevice",
            dependencies: ["EventModels", "ListingModels", "RandomValues", "Tombolo", "TomboloTraceExport", logging],
            path: "Tests/Processes/EndToEndDevice", swiftSettings: settings),
        tests(
            "EndToEndTests",
            sync + [
                "ConferenceSetup", "EventModels", "ListingModels", "PostgresClient", "RandomValues", "ChildPrograms",
                "ServiceTestSupport", "TestSupport", "TomboloAuthentication", "TomboloHTTP", "TomboloMigration",
                "TomboloPostgresStore", "Tombolo", "TomboloObservables", "TomboloSQLiteStore", "TomboloServerModel",
                "TomboloSyncClient",
                "AdminServer", "ConferenceAdmin", "SyncGateway", "MigrationTool", "TicketAPI",
                "TomboloDevelopment", "EndToEndDevice", asyncHTTPClient, crypto, cryptoExtras, grdb, nioCore,
                nioHTTP1, nioPosix, nioSSL,
            ]),
    ],
    swiftLanguageModes: [.v6]
)
