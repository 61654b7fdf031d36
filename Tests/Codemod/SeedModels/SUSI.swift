// Chat messages of the SUSI assistant, as models of Realm 2 wrote them.
import RealmSwift

enum ActionType: String {
    case answer
    case websearch
    case rss
    case table
    case map
    case anchor
}

class Message: Object {
    @Persisted var queryDate = Date()
    @Persisted var answerDate = Date()
    @Persisted var message: String = ""
    @Persisted var fromUser = true
    @Persisted var actionType = ActionType.answer.rawValue
    @Persisted var answerData: AnswerAction?
    @Persisted var mapData: MapAction?
    @Persisted var anchorData: AnchorAction?

    /// One message for each action of an answer.
    static func messages(of actions: [[String: Any]], asked query: Date, answered answer: Date) -> [Message] {
        actions.map { action in
            let message = Message()
            message.queryDate = query as Date
            message.answerDate = answer as Date
            message.fromUser = false
            if let type = action["type"] as? String {
                if type == ActionType.answer.rawValue {
                    message.message = action["expression"] as? String ?? ""
                    message.actionType = ActionType.answer.rawValue
                    message.answerData = AnswerAction(action: action)
                } else if type == ActionType.map.rawValue {
                    message.actionType = ActionType.map.rawValue
                    message.mapData = MapAction(action: action)
                } else if type == ActionType.anchor.rawValue {
                    message.actionType = ActionType.anchor.rawValue
                    message.anchorData = AnchorAction(action: action)
                    message.message = message.anchorData?.text ?? ""
                }
            }
            return message
        }
    }
}

class AnswerAction: Object {
    @Persisted var expression: String = ""

    convenience init(action: [String: Any]) {
        self.init()
        if let expression = action["expression"] as? String {
            self.expression = expression
        }
    }
}

class MapAction: Object {
    @Persisted var latitude: Double = 0.0
    @Persisted var longitude: Double = 0.0
    @Persisted var zoom: Int = 13

    convenience init(action: [String: Any]) {
        self.init()
        if let latitude = action["latitude"] as? String,
            let longitude = action["longitude"] as? String,
            let zoom = action["zoom"] as? String
        {
            self.latitude = Double(latitude) ?? 0
            self.longitude = Double(longitude) ?? 0
            self.zoom = Int(zoom) ?? 13
        }
    }
}

class AnchorAction: Object {
    @Persisted var link: String = ""
    @Persisted var text: String = ""

    convenience init(action: [String: Any]) {
        self.init()
        if let link = action["link"] as? String,
            let text = action["text"] as? String
        {
            self.link = link
            self.text = text
        }
    }
}
