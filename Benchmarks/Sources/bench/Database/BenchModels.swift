import EventModels
import ListingModels
import TomboloModel

/// Two apps on one server: the measured listings, and the conference's classes beside them.
enum BenchModels {
    static let objectTypes = EventModels.objectTypes + ListingModels.objectTypes

    static let schema: Schema = {
        do {
            return try Schema.of(objectTypes)
        } catch {
            preconditionFailure("The two apps' models conflict: \(error)")
        }
    }()
}
