import Foundation
import TomboloHTTP
import TomboloModel
import TomboloLocalization

/// A place on Earth, in degrees of WGS 84.
struct GeographicPoint: Hashable, Sendable {
    /// From -90 to 90, north positive.
    let latitude: Double
    /// From -180 to 180, east positive.
    let longitude: Double

    /// - Returns: nil for degrees that don't exist.
    init?(latitude: Double, longitude: Double) {
        guard Column.Coordinate.latitude.bounds.contains(latitude),
            Column.Coordinate.longitude.bounds.contains(longitude)
        else { return nil }
        self.latitude = latitude
        self.longitude = longitude
    }

    /// Makes a point from two numbers of the API.
    init?(latitude: JSON?, longitude: JSON?) {
        guard let latitude = Self.degrees(latitude), let longitude = Self.degrees(longitude) else { return nil }
        self.init(latitude: latitude, longitude: longitude)
    }

    /// Makes a point from `{"type": "Point", "coordinates": [13.405, 52.52]}`, longitude first: RFC 7946, section
    /// 3.1.2.
    init?(geoJSON json: JSON) {
        guard json["type"] == "Point", case .array(let degrees)? = json["coordinates"], degrees.count >= 2 else {
            return nil
        }
        self.init(latitude: degrees[1], longitude: degrees[0])
    }

    private static func degrees(_ json: JSON?) -> Double? {
        switch json {
        case .int(let number)?: Double(number)
        case .double(let number)?: number
        default: nil
        }
    }

    /// Rounded to 6 digits, which are 11 cm: a pointer isn't more precise.
    var rounded: GeographicPoint {
        func rounded(_ degrees: Double) -> Double { (degrees * 1_000_000).rounded() / 1_000_000 }
        // The bounds are whole degrees, so rounding can't exceed them.
        return GeographicPoint(latitude: rounded(latitude), longitude: rounded(longitude)) ?? self
    }

    /// The coordinates in words, such as `52.5200° N, 13.4050° E`.
    var words: String {
        func number(_ degrees: Double) -> String { String(format: "%.4f", abs(degrees)) }
        let (north, east) = (number(latitude), number(longitude))
        let parts = [
            latitude < 0 ? localized("\(north)° S") : localized("\(north)° N"),
            longitude < 0 ? localized("\(east)° W") : localized("\(east)° E"),
        ]
        return parts.joined(separator: ", ")
    }

    /// The page of openstreetmap.org with a marker at this point.
    func webAddress(zoom: Int) -> String {
        func text(_ degrees: Double) -> String { String(format: "%.6f", degrees) }
        let (latitude, longitude) = (text(latitude), text(longitude))
        return "https://www.openstreetmap.org/?mlat=\(latitude)&mlon=\(longitude)#map=\(zoom)/\(latitude)/\(longitude)"
    }
}
