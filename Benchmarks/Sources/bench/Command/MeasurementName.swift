import ArgumentParser

/// The available measurements.
enum MeasurementName: String, CaseIterable, ExpressibleByArgument {
    case drawing
    case firstSync = "first-sync"
    case upload
    case latency
    case slowReader = "slow-reader"
    case objectStore = "object-store"
    case logins
    case tickets
    case scale
    case changelog
    case admin

    func measurement(_ sizes: Sizes) -> any Measurable {
        switch self {
        case .drawing: DrawingMeasurement(sizes: sizes.drawing)
        case .firstSync: FirstSyncMeasurement(sizes: sizes.firstSync)
        case .upload: UploadMeasurement(sizes: sizes.upload)
        case .latency: LatencyMeasurement(sizes: sizes.latency)
        case .slowReader: SlowReaderMeasurement(sizes: sizes.slowReader)
        case .objectStore: ObjectStoreMeasurement(sizes: sizes.objectStore)
        case .scale: ScaleMeasurement(sizes: sizes)
        case .logins: LoginsMeasurement(sizes: sizes.logins)
        case .tickets: TicketsMeasurement(sizes: sizes.tickets)
        case .admin: AdminMeasurement(sizes: sizes.admin)
        case .changelog: ChangelogMeasurement(sizes: sizes.changelog)
        }
    }
}
