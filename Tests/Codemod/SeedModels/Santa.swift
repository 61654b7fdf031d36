// Weather along Santa's way: stored numbers behind a computed enumeration.
import RealmSwift

class Location: Object {
    @Persisted var latitude: Double = 0
    @Persisted var longitude: Double = 0

    convenience init(latitude: Double, longitude: Double) {
        self.init()
        self.latitude = latitude
        self.longitude = longitude
    }
}

class Weather: Object {
    @Persisted var location: Location?
    @Persisted var lastUpdatedDate: Date = Date()

    @Persisted private var _loadingStatus: Int = 0
    @Persisted private var _temperature: Double = 0
    @Persisted private var _condition: Int = 0
    var loadingStatus: LoadingStatus {
        let condition = Condition(rawValue: _condition) ?? .unknown
        return LoadingStatus(serverStatus: _loadingStatus, temperature: _temperature, condition: condition)
    }

    convenience init(location: Location) {
        self.init()
        self.location = location
    }

    func report(temperature: Double, condition: Condition) {
        _loadingStatus = 2
        _temperature = temperature
        _condition = condition.rawValue
    }
}

extension Weather {
    enum LoadingStatus: Equatable {
        case uploading
        case processing
        case complete(temperature: Double, condition: Condition)

        fileprivate init(serverStatus: Int, temperature: Double, condition: Condition) {
            switch serverStatus {
            case 0: self = .uploading
            case 1: self = .processing
            case 2: self = .complete(temperature: temperature, condition: condition)
            default: fatalError("Unknown loading status: \(serverStatus)")
            }
        }
    }

    enum Condition: Int {
        case unknown = 0
        case clearDay, clearNight, rain, snow, sleet, wind, fog, cloudy
    }
}
