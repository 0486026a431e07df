"""
In a scikit-learn pipeline
==========================

The Markov blanket of the target as a feature selector: the columns that make all others irrelevant.
"""

# %%
# Chemical analyses of wines of three growers, which come with scikit-learn: 13 measurements of 178 wines.

from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mnlearn.estimators import MarkovBlanketSelector, MarkovNetworkLearner

wines = load_wine(as_frame=True)
features, target = wines.data, wines.target

# %%
# The selector learns the blanket of the target from the training rows of each fold only.

selector = MarkovBlanketSelector()
chosen = selector.fit(features, target).get_feature_names_out()
print(f"{len(chosen)} of {features.shape[1]} columns: {', '.join(chosen)}")

# %%
# With these columns a linear classifier does about as well as with all of them.

for name, steps in {"all columns": [], "blanket": [MarkovBlanketSelector()]}.items():
    pipeline = make_pipeline(*steps, StandardScaler(), LogisticRegression(max_iter=1000))
    scores = cross_val_score(pipeline, features, target, cv=5)
    print(f"{name:12} accuracy {scores.mean():.3f} ± {scores.std():.3f}")

# %%
# ``MarkovNetworkLearner`` is the estimator of the whole network.

learner = MarkovNetworkLearner().fit(features)
learner.result_.plot()
