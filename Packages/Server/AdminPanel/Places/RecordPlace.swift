import TomboloHTTP
import TomboloJSONAPI

/// A place of a record: two numbers that the model marks as coordinates, or an embedded object in the form of a GeoJSON
/// point, as Realm apps use for geospatial queries.
struct RecordPlace: Hashable, Sendable {
    /// The names of the embedded objects that contain the place, including one that is itself the place.
    let path: [String]
    let point: GeographicPoint

    /// - Parameters:
    ///   - fields: the fields that the caller may read.
    ///   - value: returns the value of a field, as in the API.
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
