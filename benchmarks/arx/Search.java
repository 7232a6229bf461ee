import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.criteria.DistinctLDiversity;
import org.deidentifier.arx.criteria.EntropyLDiversity;
import org.deidentifier.arx.criteria.EqualDistanceTCloseness;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;

/** One search: FILE HIERARCHIES(with {} for the column) SENSITIVE(or -) MODEL(or -) PARAMETER K LIMIT RUNS; seconds of each run. */
public final class Search {
    public static void main(String[] given) throws Exception {
        String sensitive = given[2];
        for (int run = 0; run < Integer.parseInt(given[7]); run++) {
            Data data = Data.create(new File(given[0]), StandardCharsets.UTF_8, ';');
            String[] header = new String[data.getHandle().getNumColumns()];
            for (int column = 0; column < header.length; column++) {
                header[column] = data.getHandle().getAttributeName(column);
            }
            for (String name : header) {
                if (name.equals(sensitive)) {
                    data.getDefinition().setAttributeType(name, AttributeType.SENSITIVE_ATTRIBUTE);
                } else {
                    File file = new File(given[1].replace("{}", name));
                    data.getDefinition().setAttributeType(name, Hierarchy.create(file, StandardCharsets.UTF_8, ';'));
                }
            }
            ARXConfiguration asked = ARXConfiguration.create();
            asked.addPrivacyModel(new KAnonymity(Integer.parseInt(given[5])));
            double parameter = given[3].equals("-") ? 0.0 : Double.parseDouble(given[4]);
            switch (given[3]) {
                case "t-closeness": asked.addPrivacyModel(new EqualDistanceTCloseness(sensitive, parameter)); break;
                case "entropy": asked.addPrivacyModel(new EntropyLDiversity(sensitive, parameter)); break;
                case "distinct": asked.addPrivacyModel(new DistinctLDiversity(sensitive, (int) parameter)); break;
                case "-": break;
                default: throw new IllegalArgumentException("no such model: " + given[3]);
            }
            asked.setSuppressionLimit(Double.parseDouble(given[6]));
            asked.setQualityModel(Metric.createLossMetric(Metric.AggregateFunction.ARITHMETIC_MEAN));
            ARXResult found = new ARXAnonymizer().anonymize(data, asked);
            // The time that ARX itself tells: encoding and search, without reading the files.
            System.out.println(found.getTime() / 1000.0 + "\t" + Arrays.toString(found.getGlobalOptimum().getTransformation()));
        }
    }
}
