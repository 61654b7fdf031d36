// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// A library of the project.
func tombolo(_ name: String) -> Target.Dependency { .product(name: name, package: "Tombolo") }

let package = Package(
    name: "TomboloBenchmarks",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "bench", targets: ["bench"])],
    dependencies: [
        .package(name: "Tombolo", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(name: "CAllocationCount"),
        .executableTarget(
            name: "bench",
            dependencies: [
                "CAllocationCount",
                tombolo("AdminService"),
                tombolo("ConferenceSetup"), tombolo("EventModels"), tombolo("GatewayService"), tombolo("ListingModels"),
                tombolo("PostgresClient"), tombolo("TicketService"), tombolo("Tombolo"),
                tombolo("TomboloAuthentication"), tombolo("TomboloChangesets"), tombolo("TomboloHTTP"),
                tombolo("TomboloMigration"), tombolo("TomboloModel"), tombolo("TomboloPostgresStore"),
                tombolo("TomboloSQLiteStore"), tombolo("TomboloServerModel"), tombolo("TomboloSyncClient"),
                tombolo("TomboloSyncProtocol"),
                tombolo("TomboloSyncSession"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
