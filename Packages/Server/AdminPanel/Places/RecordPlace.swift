import TomboloHTTP
import TomboloJSONAPI

/// A place that a record has: two numbers that its model calls one, or an embedded object in the form of GeoJSON's points, as
/// apps of Realm have them for queries by distance.
struct RecordPlace: Hashable, Sendable {
    /// The names of the embedded objects that it's in, or that it is.
    let path: [String]
    let point: GeographicPoint

    /// - Parameters:
    ///   - fields: those that the caller may read.
    ///   - value: of a field, as the API has it.
    static func all(of fields: [ResourceField], in path: [String] = [], _ value: (String) -> JSON?) -> [RecordPlace] {
        var places: [RecordPlace] = []
        if let pair = PlaceFields(fields),
            let point = GeographicPoint(latitude: value(pair.latitude.name), longitude: value(pair.longitude.name))
        {
            places.append(RecordPlace(path: path, point: point))
        }
        for field in fields {
            guard case .embedded(_, let inner) = field.content, let json = value(field.name) else { continue }
            let path = path + [field.name]
            if let point = GeographicPoint(geoJSON: json) { places.append(RecordPlace(path: path, point: point)) }
            places += all(of: inner, in: path) { json[$0] }
        }
        return places
    }
}
