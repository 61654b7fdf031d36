import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

/// The two fields with an object's coordinates; the object may be embedded.
struct PlaceFields: Sendable {
    let latitude: ResourceField
    let longitude: ResourceField
    /// The name of the second of the two fields.
    let last: String

    /// - Parameter fields: the fields of one object that the caller may read.
    /// - Returns: nil if there is no place, or if the caller may read only half of it.
    init?(_ fields: [ResourceField]) {
        let found = fields.filter { $0.coordinate != nil }
        guard let latitude = found.first(where: { $0.coordinate == .latitude }),
            let longitude = found.first(where: { $0.coordinate == .longitude }), let last = found.last
        else { return nil }
        self.latitude = latitude
        self.longitude = longitude
        self.last = last.name
    }

    /// The values for the template `place`, which follows the control of ``last``: the ids of both controls.
    /// - Parameter path: the path of the embedded object that has the fields; nil for the form's own.
    func controls(at path: String?) -> [String: Any] {
        func id(_ field: ResourceField) -> String { "f-\(path.map { "\($0)." } ?? "")\(field.name)" }
        return ["latitude": id(latitude), "longitude": id(longitude)]
    }
}
