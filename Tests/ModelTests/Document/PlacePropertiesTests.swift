import Testing

@testable import TomboloModel

/// Which numbers are coordinates of a place, in classes and in model documents.
@Suite struct PlacePropertiesTests {
    private static func document(_ properties: String) -> String {
        """
        {"format": 1, "app": "a", "classes": [{"name": "A", "properties": [
        {"name": "_id", "type": "objectId", "primaryKey": true}, \(properties)]}]}
        """
    }

    private static let latitude = #"{"name": "lat", "type": "double?", "place": "latitude"}"#
    private static let longitude = #"{"name": "lon", "type": "double", "place": "longitude"}"#

    @Test("a class declares which of its numbers are its coordinates, and so does an embedded class")
    func classes() throws {
        let document = try ModelDocument(app: "quays", objectTypes: [PlacedQuay.self])
        let columns = try #require(try document.schema()["PlacedQuay"]).columns
        #expect(columns.filter { $0.coordinate == .latitude }.map(\.name) == ["north", "crane.latitude"])
        #expect(columns.filter { $0.coordinate == .longitude }.map(\.name) == ["east", "crane.longitude"])
        #expect(document.json.contains(#"{"name": "north", "type": "double?", "place": "latitude"}"#))
        #expect(try ModelDocument(json: document.json) == document)
        #expect(try document.schema() == Schema.of([PlacedQuay.self]))
    }

    @Test("placeProperties() must name two properties of type Double")
    func mistakes() {
        let error = #expect(throws: SchemaError.self) { try Schema.of([WrongPlace.self, OnePlace.self]) }
        let text = error?.description ?? ""
        #expect(text.contains("WrongPlace.placeProperties() names 'latitud', which is not a property"), "\(text)")
        #expect(text.contains("did you mean 'latitude'?"), "\(text)")
        #expect(text.contains("WrongPlace.placeProperties() names 'name', which isn't a Double"), "\(text)")
        #expect(text.contains("OnePlace.placeProperties() names 'latitude' twice"), "\(text)")
        #expect(error?.problems.count == 3, "\(text)")
    }

    @Test(
        "a document with half a place, two places or non-Double coordinates is refused, with the mistake",
        arguments: [
            (latitude, "A class with a place needs one"), (longitude, "A class with a place needs one"),
            (#"\#(latitude), \#(latitude.replacing("lat\"", with: "b\""))"#, "A class with a place needs one"),
            (
                #"\#(latitude), \#(longitude), \#(longitude.replacing("lon\"", with: "b\""))"#,
                "A class with a place needs one"
            ), (#"\#(latitude), {"name": "b", "type": "float", "place": "longitude"}"#, "Only a 'double' can be"),
            (#"\#(latitude), {"name": "b", "type": "list<double>", "place": "longitude"}"#, "Only a 'double' can be"),
            (
                #"{"name": "b", "type": "double", "place": "height"}"#,
                #"must be "latitude" or "longitude", not "height""#
            ),
            (#"{"name": "b", "type": "double", "place": true}"#, #""place" must be a string."#),
        ])
    func refused(properties: String, message: String) {
        let error = #expect(throws: ModelDocumentError.self) {
            try ModelDocument(json: Self.document(properties))
        }
        #expect(error?.problems.contains { $0.message.contains(message) } == true, "\(String(describing: error))")
    }

    @Test("places change neither tables nor the fingerprint, and the newer document decides")
    func merging() throws {
        let plain = try ModelDocument(
            json: Self.document(#"{"name": "lat", "type": "double?"}, {"name": "lon", "type": "double"}"#))
        let placed = try ModelDocument(json: Self.document("\(Self.latitude), \(Self.longitude)"))
        #expect(try placed.schema().fingerprint == plain.schema().fingerprint)
        #expect(!plain.json.contains("place"))
        #expect(try placed.merged(over: plain)["A"]?["lon"]?.coordinate == .longitude)
        #expect(try plain.merged(over: placed)["A"]?["lon"]?.coordinate == nil)
        // A retired property isn't a coordinate any more, so another property can take over.
        let moved = try ModelDocument(
            json: Self.document(#"\#(Self.latitude), {"name": "east", "type": "double?", "place": "longitude"}"#))
        let merged = try moved.merged(over: placed)["A"]
        #expect(merged?["lon"]?.isRetired == true && merged?["lon"]?.coordinate == nil)
        #expect(merged?["east"]?.coordinate == .longitude && merged?["lat"]?.coordinate == .latitude)
    }
}

private final class PlacedQuay: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var north: Double?
    @Persisted var east: Double?
    @Persisted var crane: PlacedCrane?

    override class func placeProperties() -> (latitude: String, longitude: String)? { ("north", "east") }
}

private final class PlacedCrane: EmbeddedObject {
    @Persisted var latitude: Double
    @Persisted var longitude: Double

    override class func placeProperties() -> (latitude: String, longitude: String)? { ("latitude", "longitude") }
}

private final class WrongPlace: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var latitude: Double
    @Persisted var name: String

    override class func placeProperties() -> (latitude: String, longitude: String)? { ("latitud", "name") }
}

private final class OnePlace: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var latitude: Double

    override class func placeProperties() -> (latitude: String, longitude: String)? { ("latitude", "latitude") }
}
