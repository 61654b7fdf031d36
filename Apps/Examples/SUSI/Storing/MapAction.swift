import Tombolo

/// A location to show on a map.
class MapAction: Object {
    @Persisted var latitude = 0.0
    @Persisted var longitude = 0.0
    @Persisted var zoom = ExchangeDecoder.defaultZoom

    convenience init(latitude: Double, longitude: Double, zoom: Int) {
        self.init()
        self.latitude = latitude
        self.longitude = longitude
        self.zoom = zoom
    }
}
